package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.Holds;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.PostgresProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Holds and transfers by four processes on one store, of which one is killed every two seconds, and
 * whose replies to one write in twenty are lost: what is spent equals the ledger, nothing is
 * overspent, nothing leaks, no hold is rejected while there was room, and the sum of all accounts
 * is the same in each consistent read. The number of holds is {@code -Dholds.cycles=N}, the
 * fraction of lost replies {@code -Dholds.lost=N}.
 */
final class HoldsIT {
  private static final int CYCLES = Integer.getInteger("holds.cycles", Soak.size(200, 20_000));
  private static final int CLIENTS = 16;
  private static final int PROCESSES = 4;
  private static final double LOST = Double.parseDouble(System.getProperty("holds.lost", "0.05"));
  private static final long SEED = Long.getLong("seed", 20_261_128L);
  private static final Duration BETWEEN_KILLS = Duration.ofSeconds(2);
  private static final int HOLDS_BETWEEN_KILLS =
      Math.min(100, CYCLES / 8); // it takes time to start

  @Test
  void onRedis() throws Exception {
    try (RedisServer store = RedisServer.startDurable()) {
      run(new RedisProtocol(), store.port(), port -> "redis://127.0.0.1:" + port);
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start()) {
      run(
          new PostgresProtocol(),
          store.port(),
          port -> "postgresql://postgres@127.0.0.1:%d/postgres".formatted(port));
    }
  }

  @Test
  void onDynamoDb() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer store = started.get()) {
      run(
          new DynamoDbProtocol(),
          store.endpoint().getPort(),
          port ->
              "dynamodb://key:secret@us-east-1/holds?endpoint=http://127.0.0.1:%d".formatted(port));
    }
  }

  private static void run(Protocol protocol, int storePort, Function<Integer, String> uri)
      throws Exception {
    HoldBook book = new HoldBook();
    try (FaultProxy proxy = FaultProxy.start(protocol, storePort, Duration.ofSeconds(1), w -> 0);
        StoreDriver driver = StoreProvider.open(uri.apply(storePort));
        Quipu quipu = Backends.on(driver)) {
      fund(quipu);
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, write -> true));
      AtomicLong reads = new AtomicLong();
      Thread reader = Thread.ofVirtual().start(() -> readSums(quipu.part(Store.class), reads));
      long startNanos = Clock.system().nanoTime();
      int kills = load(uri.apply(proxy.port()), book);
      double seconds = (Clock.system().nanoTime() - startNanos) / 1e9;
      reader.interrupt();
      reader.join();
      long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
      assertTrue(lost > 0 && kills > 0 && reads.get() > 0, "nothing failed: this run is void");
      assertTrue(reads.get() < Long.MAX_VALUE / 2, "a consistent read had another sum");
      check(quipu, book);
      System.out.printf(
          "HoldsIT: %s, %s, %.0f/s, %d replies lost, %d processes killed, %d sums read%n",
          driver.profile().name(), book.summary(), CYCLES / seconds, lost, kills, reads.get());
    }
  }

  private static void fund(Quipu quipu) {
    for (int i = 0; i < HoldClient.BUDGETS; i++) {
      assertTrue(
          quipu.counters().add(new Add(HoldClient.budget(i), HoldClient.FUNDS, null)).isApplied());
    }
    for (int i = 0; i < HoldClient.ACCOUNTS; i++) {
      assertTrue(
          quipu.counters().add(new Add(HoldClient.account(i), HoldClient.FUNDS, null)).isApplied());
    }
  }

  /** Reads until interrupted, or until a sum is wrong, which it reports by a huge number. */
  private static void readSums(Store store, AtomicLong reads) {
    List<Key> keys =
        IntStream.range(0, HoldClient.ACCOUNTS)
            .mapToObj(i -> new Key("counter/" + HoldClient.account(i), "value"))
            .toList();
    while (!Thread.currentThread().isInterrupted()) {
      try {
        long sum = 0;
        for (Optional<Item> item : store.getAll(keys)) {
          sum += item.orElseThrow().number(Item.VALUE);
        }
        if (sum != HoldClient.ACCOUNTS * HoldClient.FUNDS) {
          reads.set(Long.MAX_VALUE / 2 + sum);
          return;
        }
        reads.incrementAndGet();
        Clock.system().sleep(Duration.ofMillis(20));
      } catch (QuipuException e) {
        // contention: read again
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Runs all clients to their end; returns the number of killed processes. */
  private static int load(String uri, HoldBook book) throws Exception {
    List<ClientProcess> workers = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      workers.add(start(uri, i, book));
    }
    Progress progress = new Progress("holds on " + uri, book::closed);
    int kills = 0;
    long killedNanos = Clock.system().nanoTime();
    long closedBefore = 0;
    while (workers.stream().anyMatch(ClientProcess::isAlive)) {
      progress.check();
      Clock.system().sleep(Duration.ofMillis(20));
      int victim = kills % PROCESSES;
      boolean isDue =
          Clock.system().nanoTime() - killedNanos > BETWEEN_KILLS.toNanos()
              && book.closed() > closedBefore + HOLDS_BETWEEN_KILLS;
      if (isDue && workers.get(victim).isAlive()) {
        workers.get(victim).kill();
        workers.set(victim, start(uri, victim, book));
        kills++;
        killedNanos = Clock.system().nanoTime();
        closedBefore = book.closed();
      }
    }
    for (ClientProcess worker : workers) {
      worker.await();
    }
    return kills;
  }

  private static ClientProcess start(String uri, int number, HoldBook book) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(uri, Integer.toString(CYCLES / CLIENTS)));
    IntStream.range(0, CLIENTS)
        .filter(client -> client % PROCESSES == number)
        .forEach(client -> arguments.add(client + ":" + book.from(client)));
    return ClientProcess.start(HoldClient.class, arguments, book::note);
  }

  private static void check(Quipu quipu, HoldBook book) throws Exception {
    Holds holds = quipu.part(Holds.class);
    Store store = quipu.part(Store.class);
    Map<String, Long> values = new HashMap<>();
    for (int i = 0; i < HoldClient.BUDGETS; i++) {
      String counter = HoldClient.budget(i);
      Progress.await( // what is held may be 0 before, since holds have both signs
          "release of expired holds on " + counter,
          () -> store.scan(Scan.all("holds/counter/" + counter)).items().isEmpty());
      assertEquals(0, holds.balance(counter).orElseThrow().held());
      assertEquals(List.of(), holds.list(counter, null, 10));
      values.put(counter, quipu.counters().read(counter).orElseThrow().value());
    }
    assertEquals(book.check((client, cycle) -> holds.find(HoldClient.id(client, cycle))), values);
  }
}
