package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.RequestId;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.layer.Store;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.simpledbserver.SimpleDbFault;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.simulation.proxy.DatastoreProtocol;
import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.MemcachedProtocol;
import dev.quipu.simulation.proxy.PostgresProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.DatastoreServer;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * 32 writers in four processes number records on each store. Every twentieth reply to a write is
 * lost after it was applied, and processes are killed and restarted: the numbers are 1, 2, 3 and so
 * on without gaps, each record has one number, and its writer received that number.
 */
final class SequencesIT {
  private static final int PROCESSES = 4;
  private static final int WRITERS = 32;
  private static final int RECORDS = Soak.size(6, 25); // per writer
  private static final int FEW_RECORDS = 6; // where many conditional writes on one key are slow
  private static final int KILLS = Soak.size(2, 6);
  private static final double LOST = 0.05;
  private static final long SEED = Long.getLong("seed", 20_261_121L);

  @TempDir Path temporary;

  /** The numbers that writers received. */
  private static final class Book {
    final Map<String, Long> received = new ConcurrentHashMap<>();
    final int records;
    private final int[] next = new int[WRITERS];

    /** Creates a book for this number of records per writer. */
    Book(int records) {
      this.records = records;
    }

    synchronized void note(String line) {
      String[] parts = line.split(" ", 3);
      int writer = Integer.parseInt(parts[0]);
      int record = Integer.parseInt(parts[1]);
      next[writer] = record + 1;
      received.put(SequenceClient.id(writer, record), Long.parseLong(parts[2]));
    }

    synchronized int next(int writer) {
      return next[writer];
    }
  }

  @Test
  void onRedis() throws Exception {
    try (RedisServer store = RedisServer.startDurable()) {
      number(new RedisProtocol(), store.port(), "redis://127.0.0.1:%d"::formatted, RECORDS);
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start()) {
      number(
          new PostgresProtocol(),
          store.port(),
          "postgresql://postgres@127.0.0.1:%d/postgres"::formatted,
          RECORDS);
    }
  }

  @Test
  void onDynamoDb() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer store = started.get()) {
      number(
          new DynamoDbProtocol(),
          store.endpoint().getPort(),
          "dynamodb://key:secret@us-east-1/sequences?endpoint=http://127.0.0.1:%d"::formatted,
          RECORDS);
    }
  }

  @Test
  void onMemcached() throws Exception {
    Optional<MemcachedServer> started = MemcachedServer.start();
    assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
    try (MemcachedServer store = started.get()) {
      number(
          new MemcachedProtocol(),
          store.port(),
          "memcached://127.0.0.1:%d"::formatted,
          FEW_RECORDS);
    }
  }

  @Test
  void onDatastore() throws Exception {
    Optional<DatastoreServer> started = DatastoreServer.start();
    assumeTrue(started.isPresent(), "no Datastore emulator: the Cloud SDK has it");
    try (DatastoreServer store = started.get()) {
      number(
          new DatastoreProtocol(),
          store.port(),
          "datastore://quipu-test/Quipu?endpoint=http://127.0.0.1:%d"::formatted,
          RECORDS);
    }
  }

  @Test
  void onSimpleDb() throws Exception {
    SimpleDbOptions lagging = SimpleDbOptions.DEFAULT.lagging(Duration.ofMillis(500), SEED);
    try (SimpleDbServer store = SimpleDbServer.start(lagging, Clock.system())) {
      String uri = "simpledb://key:secret@us-east-1/one,two?endpoint=" + store.endpoint();
      StoreProvider.open(uri).close(); // creates the domains
      store.use(Map.of(SimpleDbFault.REPLY_DROPPED, LOST));
      Book book = write(uri, FEW_RECORDS);
      long lost = store.fired().getOrDefault(SimpleDbFault.REPLY_DROPPED, 0);
      store.use(Map.of());
      check(uri, book, lost);
    }
  }

  /** The writers use a server, which is killed too. */
  @Test
  void onTheEngine() throws Exception {
    Path data = temporary.resolve("data");
    Path out = temporary.resolve("out");
    QuipuProcess server = QuipuProcess.serve(out, "--data", data.toString());
    int port = server.uri().getPort();
    long lost;
    Book book;
    try (FaultProxy proxy =
        FaultProxy.start(new HttpProtocol(), port, Duration.ofSeconds(1), write -> 1)) {
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, write -> true));
      QuipuProcess[] serving = {server};
      book =
          write(
              "http://127.0.0.1:%d/".formatted(proxy.port()),
              RECORDS,
              () -> {
                serving[0].close();
                serving[0] = QuipuProcess.serveAt(port, out, "--data", data.toString());
              });
      serving[0].close();
      lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
    }
    try (Engine engine = Engine.open(data, EngineOptions.defaults())) {
      check("engine", engine.driver(), book, lost);
    }
  }

  private static void number(Protocol protocol, int storePort, IntFunction<String> uri, int records)
      throws Exception {
    try (FaultProxy proxy =
        FaultProxy.start(protocol, storePort, Duration.ofSeconds(1), write -> 1)) {
      StoreProvider.open(uri.apply(proxy.port())).close(); // creates the tables
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, write -> true));
      Book book = write(uri.apply(proxy.port()), records);
      check(uri.apply(storePort), book, proxy.ledger().fired(WireFault.REPLY_DROPPED));
    }
  }

  /** Another process to kill. */
  private interface Kill {
    void run() throws Exception;
  }

  private static Book write(String uri, int records) throws Exception {
    return write(uri, records, () -> {});
  }

  /** Writes all records while one process after another is killed. */
  private static Book write(String uri, int records, Kill more) throws Exception {
    Book book = new Book(records);
    List<ClientProcess> processes = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      processes.add(start(uri, i, book));
    }
    Progress numbered = new Progress("records numbered on " + uri, book.received::size);
    for (int kills = 0; kills < KILLS; kills++) {
      numbered.awaitAtLeast(WRITERS * records * (kills + 1) / (KILLS + 2));
      int first = kills;
      int victim =
          IntStream.range(0, PROCESSES)
              .map(each -> (first + each) % PROCESSES)
              .filter(each -> processes.get(each).isAlive())
              .findFirst()
              .orElseThrow(() -> new AssertionError("nobody was left to be killed: a void run"));
      processes.get(victim).kill();
      more.run();
      processes.set(victim, start(uri, victim, book));
    }
    for (ClientProcess process : processes) {
      process.await();
    }
    return book;
  }

  private static ClientProcess start(String uri, int process, Book book) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(uri, Integer.toString(book.records)));
    for (int writer = process; writer < WRITERS; writer += PROCESSES) {
      arguments.add(writer + ":" + book.next(writer));
    }
    return ClientProcess.start(SequenceClient.class, arguments, book::note);
  }

  private static void check(String uri, Book book, long lost) {
    try (StoreDriver driver = StoreProvider.open(uri)) {
      check(uri.split(":", 2)[0], driver, book, lost);
    }
  }

  private static void check(String name, StoreDriver driver, Book book, long lost) {
    SequenceOfRecords sequence = new SequenceOfRecords(new Store(driver, Clock.system()));
    long last = sequence.last(SequenceClient.SERIES);
    Map<String, Long> stored = new HashMap<>();
    List<Long> numbers = new ArrayList<>();
    for (NumberedRecord record :
        sequence.page(SequenceClient.SERIES, 1, SequenceOfRecords.PAGE_MAX)) {
      numbers.add(record.number());
      assertEquals(null, stored.put(record.id(), record.number()), "one record, two numbers");
    }
    System.out.printf(
        "SequencesIT: %s, %d writers, %d records, %d replies lost, %d processes killed%n",
        name, WRITERS, numbers.size(), lost, KILLS);
    assertEquals(LongStream.rangeClosed(1, last).boxed().toList(), numbers);
    assertEquals(book.received.size(), last);
    assertEquals(WRITERS * book.records, book.received.size());
    book.received.forEach((id, number) ->
        assertEquals(number, stored.get(RequestId.of(id).bits()), () -> "number of " + id));
    assertTrue(lost > 0, "no reply was lost, so this run is void");
  }
}
