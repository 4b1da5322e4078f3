package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Measurement;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.bench.ports.subject.WireSubject;
import dev.quipu.testservers.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Adds under request ids for many minutes, in which ids are sealed, merged and read, compared with
 * a script on Redis, in alternating turns.
 */
public final class OnceRates {
  private static final int PIPELINE = 128;
  private static final int ROUNDS_PER_ROW = 6;
  private static final Duration TURN = Duration.ofSeconds(5);

  /** Turns of each before the first row, in which the JVM compiles. */
  private static final int WARM_UP = 4;

  private final Workload workload = new Workload(AddKind.ONCE, Workload.KEYS_MAX, PIPELINE);
  private long ids;

  private OnceRates() {}

  /**
   * Returns the rows of the table.
   *
   * @param minutes how long, both servers together
   */
  public static String measure(int minutes) throws Exception {
    boolean isPinned = Processes.canPin();
    List<String> before = isPinned ? Processes.pinned(Processes.SERVERS_CORE) : List.of();
    try (QuipuServer quipu = QuipuServer.start(before, false, List.of());
        RedisServer redis = RedisServer.start(HoldRates.REDIS_OPTIONS)) {
      if (isPinned) {
        Processes.pin(redis.pid(), Processes.SERVERS_CORE);
        Processes.pinOne(ProcessHandle.current().pid(), Processes.OWN_CORE);
      }
      OnceRates rates = new OnceRates();
      RequestNumbers numbers = new RequestNumbers();
      StringBuilder rows = new StringBuilder();
      String warmUp = rates.row(quipu, redis, numbers, WARM_UP);
      System.err.print("not counted: " + warmUp);
      for (int minute = 0; minute < minutes; minute++) {
        String row = rates.row(quipu, redis, numbers, ROUNDS_PER_ROW);
        System.err.print(row);
        rows.append(row);
      }
      return rows.toString();
    }
  }

  private String row(
      QuipuServer quipuServer, RedisServer redisServer, RequestNumbers numbers, int rounds)
      throws IOException {
    WireSubject quipu =
        new WireSubject("Quipu", Dialect.QUIPU, quipuServer.port(), quipuServer.pid(), numbers);
    WireSubject redis =
        new WireSubject("Redis", Dialect.REDIS, redisServer.port(), redisServer.pid(), numbers);
    List<Double> own = new ArrayList<>();
    List<Double> peers = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      Measurement turn = quipu.measure(workload, TURN);
      ids += turn.applied();
      own.add(turn.perSecond());
      peers.add(redis.measure(workload, TURN).perSecond());
      ratios.add(own.getLast() / peers.getLast());
    }
    ratios.sort(null);
    return String.format(
        Locale.ROOT,
        "| %,d | %,.0f | %,.0f | %.1f | %.1f..%.1f |%n",
        ids,
        Comparison.median(own),
        Comparison.median(peers),
        Comparison.median(ratios),
        ratios.getFirst(),
        ratios.getLast());
  }
}
