package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Measure;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Adds under request ids to one counter by {@code marker-item}: combined into transactions by the
 * driver, compared with one transaction for each add, in alternating turns.
 */
public final class CombinedAdds {
  private static final List<Integer> CLIENTS = List.of(1, 16, 64);
  private static final int ROUNDS = 7; // after one that warms up
  private static final Duration TURN = Duration.ofSeconds(2);
  private static final String COUNTER = "hot";

  private final StringBuilder table = new StringBuilder();
  private final AtomicLong ids = new AtomicLong();

  private CombinedAdds() {}

  /** Returns the rows of these stores, one per number of clients. */
  public static String measure(Set<String> stores) throws Exception {
    CombinedAdds adds = new CombinedAdds();
    if (stores.contains("postgresql")) {
      adds.onPostgres();
    }
    if (stores.contains("dynamodb")) {
      adds.onDynamoDb();
    }
    if (stores.contains("redis")) {
      adds.onRedis();
    }
    return adds.table.toString();
  }

  private void onPostgres() throws Exception {
    try (PostgresServer server = PostgresServer.start()) {
      String database = "postgresql://postgres@127.0.0.1:" + server.port() + "/postgres";
      on("postgresql", database + "?table=combine_%1$s&combine=%1$s");
    }
  }

  private void onDynamoDb() throws Exception {
    try (DynamoDbServer server =
        DynamoDbServer.start()
            .orElseThrow(() ->
                new IllegalStateException("DynamoDB Local is missing: ./dev bench builds it"))) {
      String endpoint = "?endpoint=" + server.endpoint();
      String table = "dynamodb://key:secret@us-east-1/combine-%1$s";
      on("dynamodb (Local)", table + endpoint + "&combine=%1$s");
    }
  }

  private void onRedis() throws Exception {
    try (RedisServer server = RedisServer.startDurable()) {
      String address = "redis://127.0.0.1:" + server.port();
      on("redis", address + "?prefix=%1$s&combine=%1$s");
    }
  }

  /** A driver, and the adds that were applied through it. */
  private record Side(StoreDriver driver, MarkerItem counters, LongAdder applied)
      implements AutoCloseable {
    static Side open(String uri) {
      StoreDriver driver = StoreProvider.open(uri);
      return new Side(driver, new MarkerItem(new Store(driver, Clock.system())), new LongAdder());
    }

    long measure(Measure which) {
      return driver.measures().getOrDefault(which, 0L);
    }

    @Override
    public void close() {
      driver.close();
    }
  }

  /**
   * Compares the two settings of a store.
   *
   * @param uri a format whose argument is on or off
   */
  private void on(String store, String uri) throws Exception {
    try (Side combined = Side.open(uri.formatted("on"));
        Side single = Side.open(uri.formatted("off"))) {
      for (int clients : CLIENTS) {
        compare(store, clients, combined, single);
      }
      check(combined);
      check(single);
    }
  }

  private static void check(Side side) {
    long value = side.counters.read(COUNTER).map(Reading::value).orElse(0L);
    if (value != side.applied.sum()) {
      throw new IllegalStateException(
          "the counter is %d after %d adds".formatted(value, side.applied.sum()));
    }
  }

  private void compare(String store, int clients, Side combined, Side single) throws Exception {
    List<Double> rates = new ArrayList<>();
    List<Double> singleRates = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    long adds = 0;
    long writes = 0;
    for (int round = -1; round < ROUNDS; round++) {
      long addsBefore = combined.measure(Measure.FOLDED_ADDS);
      long writesBefore = combined.measure(Measure.FOLDED_WRITES);
      double other = round % 2 == 0 ? rate(single, clients) : 0;
      double rate = rate(combined, clients);
      other = round % 2 == 0 ? other : rate(single, clients);
      if (round >= 0) {
        rates.add(rate);
        singleRates.add(other);
        ratios.add(rate / other);
        adds += combined.measure(Measure.FOLDED_ADDS) - addsBefore;
        writes += combined.measure(Measure.FOLDED_WRITES) - writesBefore;
      }
    }
    String row =
        String.format(
            Locale.ROOT,
            "| %s | %d | %,.0f | %,.0f | %.1f | %.1f to %.1f | %.1f |%n",
            store,
            clients,
            StoreOverhead.median(rates),
            StoreOverhead.median(singleRates),
            StoreOverhead.median(ratios),
            ratios.getFirst(),
            ratios.getLast(),
            (double) adds / writes);
    System.out.print(row);
    table.append(row);
  }

  /** Returns applied adds per second by a number of clients. */
  private double rate(Side side, int clients) throws Exception {
    long before = side.applied.sum();
    long start = Clock.system().nanoTime();
    long end = start + TURN.toNanos();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        running.add(
            executor.submit(() -> {
              while (Clock.system().nanoTime() < end) {
                add(side);
              }
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    return (side.applied.sum() - before) * 1e9 / (Clock.system().nanoTime() - start);
  }

  /** Adds 1 under a new id; repeats it after a temporary failure. */
  private void add(Side side) {
    long number = ids.incrementAndGet();
    Add add = new Add(COUNTER, 1, RequestId.of(number * 0x9E3779B97F4A7C15L, number));
    while (true) {
      try {
        AddResult result = side.counters.add(add);
        if (!(result instanceof AddResult.Success)) {
          throw new IllegalStateException(result.toString());
        }
        side.applied.increment();
        return;
      } catch (QuipuException e) {
        if (!e.reason().isTemporary()) {
          throw e;
        }
      }
    }
  }
}
