package dev.quipu.server;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.MarkerItem;
import dev.quipu.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * A client that buys from a stock, in the test process or in a separate one that may be killed. It
 * prints a line for each request and each outcome.
 *
 * @param number number of the client
 * @param requests number of requests to make
 * @param amountMax maximum pieces per request; the last fifth of the requests buy one piece each,
 *     so that nothing is left
 */
record StockClient(int number, int requests, int amountMax) {
  static final String COUNTER = "stock";
  static final Bounds FLOOR = Bounds.atLeast(0);
  static final ShardOptions SHARDS = ShardOptions.fixed(16).within(FLOOR);
  private static final double REPLAYS = 0.2;
  private static final int TRIES_MAX = 1_000;

  static Counters open(StoreDriver driver) {
    Store store = new Store(driver, Clock.system());
    return new Sharded(store, new MarkerItem(store), SHARDS);
  }

  /** Runs clients; arguments: store, requests, maximum pieces, and NUMBER:FROM of each client. */
  public static void main(String[] args) throws InterruptedException {
    try (StoreDriver driver = StoreProvider.open(args[0])) {
      Counters counters = open(driver);
      List<Thread> threads = new ArrayList<>();
      for (int i = 3; i < args.length; i++) {
        String[] parts = args[i].split(":", 2);
        StockClient client =
            new StockClient(
                Integer.parseInt(parts[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        int from = Integer.parseInt(parts[1]);
        threads.add(Thread.ofVirtual().start(() -> client.run(counters, from, StockClient::print)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  private static void print(String line) {
    System.out.print(line + "\n"); // one write, so that a kill leaves complete lines
    System.out.flush();
  }

  /** Makes requests, starting from one, until all are made or the thread is interrupted. */
  void run(Counters counters, int from, Consumer<String> log) {
    for (int request = from; request < requests; request++) {
      SplittableRandom random = new SplittableRandom(1_000_003L * number + request);
      long amount = request < requests - requests / 5 ? random.nextLong(1, amountMax + 1L) : 1;
      if (!buy(counters, request, amount, log)) {
        return;
      }
      if (random.nextDouble() < REPLAYS && !buy(counters, request, amount, log)) {
        return;
      }
    }
  }

  /** Returns whether the request was answered; if not, the client was killed. */
  private boolean buy(Counters counters, int request, long amount, Consumer<String> log) {
    String what = number + " " + request + " " + amount + " ";
    log.accept("begins " + what + Clock.system().epochMillis());
    RequestId id = RequestId.of("client " + number + " request " + request);
    for (int i = 0; i < TRIES_MAX; i++) {
      try {
        AddResult answer = counters.add(new Add(COUNTER, -amount, FLOOR, id));
        if (Thread.currentThread().isInterrupted()) {
          return false;
        }
        log.accept("receives " + what + Clock.system().epochMillis() + " " + word(answer));
        return true;
      } catch (QuipuException e) {
        if (!e.reason().isTemporary()) {
          throw e;
        }
        if (Thread.currentThread().isInterrupted()) {
          return false;
        }
      }
    }
    throw new IllegalStateException("no answer for " + what);
  }

  private static String word(AddResult answer) {
    return switch (answer) {
      case AddResult.Applied applied -> "applied 0";
      case AddResult.Replayed again -> "replayed 0";
      case AddResult.Rejected rejected -> "rejected " + rejected.valueIfKnown().orElseThrow();
      case AddResult.Conflict conflict -> throw new IllegalStateException(answer.toString());
    };
  }
}
