package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.WireSubject;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Runs redis-benchmark, as an independent load generator. */
final class RedisBenchmark {
  private static final int ROUNDS = 3;
  private static final long REQUESTS_MIN = 1_000;

  private RedisBenchmark() {}

  static boolean isThere() {
    return Processes.isThere("redis-benchmark");
  }

  /** Returns a row with its results for Quipu and Redis, in turns of the same length. */
  static String row(Comparison comparison, WireSubject quipu, WireSubject redis, Duration time)
      throws IOException, InterruptedException {
    List<Double> own = new ArrayList<>();
    List<Double> others = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      own.add(perSecond(comparison.workload(), quipu, comparison.perSecond(0), time));
      others.add(perSecond(comparison.workload(), redis, comparison.perSecond(1), time));
      ratios.add(own.getLast() / others.getLast());
    }
    return String.format(
        Locale.ROOT,
        "| %d | %,.0f | %,.0f | %.2f | %,.0f | %,.0f |%n",
        comparison.workload().pipeline(),
        Comparison.median(own),
        Comparison.median(others),
        Comparison.median(ratios),
        comparison.perSecond(0),
        comparison.perSecond(1));
  }

  private static double perSecond(
      Workload workload, WireSubject subject, double expected, Duration time)
      throws IOException, InterruptedException {
    // It limits requests, not seconds.
    long requests = Math.max(REQUESTS_MIN, (long) (expected * time.toMillis() / 1e3));
    String printed =
        Processes.run(
            List.of(
                "redis-benchmark",
                "--csv",
                "-p",
                Integer.toString(subject.port()),
                "-c",
                Integer.toString(Workload.CONNECTIONS),
                "-P",
                Integer.toString(workload.pipeline()),
                "-n",
                Long.toString(requests),
                "-r",
                Integer.toString(workload.keys()),
                "INCR",
                "r:__rand_int__"));
    List<String> lines = printed.lines().filter(line -> line.startsWith("\"INCR")).toList();
    if (lines.isEmpty()) {
      throw new IOException("unexpected output of redis-benchmark: " + printed);
    }
    return Double.parseDouble(lines.getLast().split(",", -1)[1].replace("\"", ""));
  }
}
