package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.ControlConnection;
import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.HoldDialect;
import dev.quipu.bench.ports.load.HoldLoop;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.testservers.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Holds over the Redis protocol, compared with scripts on Redis, in alternating turns. */
public final class HoldRates {
  private static final List<Integer> PIPELINES = List.of(1, 16, 128);
  private static final int WARM_UP_TURNS = 14;
  private static final int ROUNDS = 7;
  private static final Duration TURN = Duration.ofSeconds(3);

  /** Without rewrites of its file in the background, which would run in turns of Quipu. */
  static final String[] REDIS_OPTIONS = {
    "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"
  };

  private final RequestNumbers numbers = new RequestNumbers();

  private HoldRates() {}

  /** A server that is measured. */
  private record Subject(String name, int port, Dialect dialect, HoldDialect holds) {}

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    boolean isPinned = Processes.canPin();
    List<String> before = isPinned ? Processes.pinned(Processes.SERVERS_CORE) : List.of();
    try (QuipuServer quipu = QuipuServer.start(before, false, List.of());
        RedisServer redis = RedisServer.start(REDIS_OPTIONS);
        ControlConnection control = new ControlConnection(redis.port(), Dialect.REDIS)) {
      if (isPinned) {
        Processes.pin(redis.pid(), Processes.SERVERS_CORE);
        Processes.pinOne(ProcessHandle.current().pid(), Processes.OWN_CORE);
      }
      List<Subject> subjects =
          List.of(
              new Subject("Quipu", quipu.port(), Dialect.QUIPU, HoldDialect.quipu()),
              new Subject("Redis", redis.port(), Dialect.REDIS, HoldDialect.redis(control)));
      HoldRates rates = new HoldRates();
      for (int turn = 0; turn < WARM_UP_TURNS; turn++) {
        int pipeline = PIPELINES.get(turn % PIPELINES.size());
        var unused = rates.perSecond(pipeline, subjects.getFirst()); // for its compiler
      }
      StringBuilder rows = new StringBuilder();
      for (int pipeline : PIPELINES) {
        rows.append(rates.row(pipeline, subjects));
      }
      return rows.toString();
    }
  }

  private String row(int pipeline, List<Subject> subjects) throws IOException {
    List<Double> own = new ArrayList<>();
    List<Double> others = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = -1; round < ROUNDS; round++) { // the first one warms up
      double first = perSecond(pipeline, subjects.getFirst());
      double second = perSecond(pipeline, subjects.getLast());
      if (round >= 0) {
        own.add(first);
        others.add(second);
        ratios.add(first / second);
      }
    }
    ratios.sort(null);
    return String.format(
        Locale.ROOT,
        "| %d | %,.0f | %,.0f | %.1f | %.1f–%.1f |%n",
        pipeline,
        Comparison.median(own),
        Comparison.median(others),
        Comparison.median(ratios),
        ratios.getFirst(),
        ratios.getLast());
  }

  private double perSecond(int pipeline, Subject subject) throws IOException {
    try (ControlConnection control = new ControlConnection(subject.port, subject.dialect);
        HoldLoop loop = new HoldLoop(subject.port, subject.holds, pipeline, numbers)) {
      long before = control.sum(Workload.KEYS_MAX);
      HoldLoop.Outcome outcome = loop.run(TURN);
      long kept = control.sum(Workload.KEYS_MAX) - before;
      if (kept != outcome.settled()) {
        throw new IllegalStateException(
            "%s: %,d holds were settled, and the counters grew by %,d"
                .formatted(subject.name, outcome.settled(), kept));
      }
      return outcome.settled() * 1e9 / outcome.nanos();
    }
  }
}
