package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.RequestId;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A stock over 16 shards with ten times the demand. Every fifth request is repeated, and clients
 * are killed continuously and succeeded by others: all pieces are sold, none twice, and no request
 * is rejected while the stock suffices.
 */
final class StockIT {
  private static final long STOCK = Soak.size(20_000, 100_000);
  private static final int KILLS = Soak.size(4, 40);
  private static final int CLIENTS = 16;
  private static final int PROCESSES = 4;

  @TempDir Path directory;

  @Test
  void onRedis() throws Exception {
    try (RedisServer store = RedisServer.startDurable()) {
      sell("redis://127.0.0.1:%d".formatted(store.port()), 199);
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start()) {
      sell("postgresql://postgres@127.0.0.1:%d/postgres".formatted(store.port()), 199);
    }
  }

  @Test
  void onDynamoDb() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer store = started.get()) {
      sell(
          "dynamodb://key:secret@us-east-1/stock?endpoint=http://127.0.0.1:%d"
              .formatted(store.endpoint().getPort()),
          399);
    }
  }

  /** The engine runs in one process, so clients are threads and interrupted instead of killed. */
  @Test
  void onTheEngine() throws Exception {
    int amountMax = 3;
    StockBook book = new StockBook();
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      Counters counters = StockClient.open(engine.driver());
      deliver(counters);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        threads.add(startThread(counters, book, i, amountMax));
      }
      Progress answered = new Progress("requests answered on the engine", book::answered);
      for (int kill = 0; kill < KILLS; kill++) {
        answered.awaitAtLeast(answersBefore(kill, amountMax));
        int client = kill % CLIENTS;
        threads.get(client).interrupt();
        threads.get(client).join();
        threads.set(client, startThread(counters, book, client, amountMax));
      }
      answered.awaitAtLeast(CLIENTS * (long) requests(amountMax));
      for (Thread thread : threads) {
        thread.join();
      }
      check("engine", book, counters);
    }
  }

  private static Thread startThread(Counters counters, StockBook book, int client, int amountMax) {
    return Thread.ofPlatform()
        .start(() -> client(client, amountMax).run(counters, book.from(client), book::note));
  }

  private static StockClient client(int number, int amountMax) {
    return new StockClient(number, requests(amountMax), amountMax);
  }

  /** Returns the maximum pieces per request so that the demand is ten times the stock. */
  private static int requests(int amountMax) {
    return (int) (10 * STOCK * 2 / (1 + amountMax) / CLIENTS);
  }

  private void sell(String uri, int amountMax) throws Exception {
    StockBook book = new StockBook();
    try (StoreDriver driver = StoreProvider.open(uri)) {
      Counters counters = StockClient.open(driver);
      deliver(counters);
      List<ClientProcess> workers = new ArrayList<>();
      for (int i = 0; i < PROCESSES; i++) {
        workers.add(start(uri, i, amountMax, book));
      }
      Progress answered = new Progress("requests answered on " + uri, book::answered);
      for (int kill = 0; kill < KILLS; kill++) {
        answered.awaitAtLeast(answersBefore(kill, amountMax));
        int victim = kill % PROCESSES;
        workers.get(victim).kill();
        workers.set(victim, start(uri, victim, amountMax, book));
      }
      answered.awaitAtLeast(CLIENTS * (long) requests(amountMax));
      for (ClientProcess worker : workers) {
        worker.await();
      }
      check(uri.split(":", 2)[0], book, counters);
    }
  }

  /**
   * Returns the number of answered requests before a kill: all kills happen in the first half, so
   * that slow clients still have work left.
   */
  private static long answersBefore(int kill, int amountMax) {
    return (long) CLIENTS * requests(amountMax) * (kill + 1) / (2L * KILLS);
  }

  /** A process of several clients. */
  private static ClientProcess start(String uri, int number, int amountMax, StockBook book)
      throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add(uri);
    arguments.addAll(List.of(Integer.toString(requests(amountMax)), Integer.toString(amountMax)));
    IntStream.range(0, CLIENTS)
        .filter(client -> client % PROCESSES == number)
        .forEach(client -> arguments.add(client + ":" + book.from(client)));
    return ClientProcess.start(StockClient.class, arguments, book::note);
  }

  private static void deliver(Counters counters) {
    for (int i = 0; i < 100; i++) {
      Add delivery =
          new Add(StockClient.COUNTER, STOCK / 100, StockClient.FLOOR, RequestId.of("in " + i));
      assertInstanceOf(AddResult.Applied.class, counters.add(delivery));
    }
    assertEquals(STOCK, left(counters));
  }

  private static long left(Counters counters) {
    return counters.read(StockClient.COUNTER).orElseThrow().value();
  }

  private static void check(String store, StockBook book, Counters counters) {
    long sold = book.check(STOCK);
    System.out.printf(
        "StockIT: %s, sold %d, left %d, %d rejections, %d replays, %d clients killed%n",
        store, sold, left(counters), book.rejections(), book.replays(), KILLS);
    assertEquals(STOCK, sold);
    assertEquals(0, left(counters));
    assertTrue(book.replays() > 0, "nothing was replayed, so this run is void");
  }
}
