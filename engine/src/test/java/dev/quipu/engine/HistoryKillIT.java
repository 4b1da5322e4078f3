package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.backend.CounterHistory;
import dev.quipu.backend.CounterHistory.Point;
import dev.quipu.backend.CounterHistory.Sum;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Weeks of a simulated clock, in which daylight saving time ends in two zones, of processes that
 * add concurrently and are killed by kill -9. Every boundary that can be read equals a recount.
 */
final class HistoryKillIT {
  private static final Instant START = Instant.parse("2026-10-20T21:17:31.500Z");
  private static final Duration LENGTH = Duration.ofDays(28);
  private static final int ADDS =
      Integer.getInteger("history.adds", Soak.size(200_000, 10_000_000));
  private static final int KILLS = Integer.getInteger("history.kills", Soak.size(4, 30));
  private static final int ROUNDS = ADDS / HistoryWorker.ROUND_ADDS;
  private static final Map<String, ChronoUnit> STEPS =
      Map.of(
          "UTC", ChronoUnit.HOURS,
          "Asia/Kolkata", ChronoUnit.HOURS,
          "Europe/Berlin", ChronoUnit.DAYS,
          "America/New_York", ChronoUnit.DAYS);

  @TempDir Path directory;
  private final long seed = Long.getLong("seed", 20_261_129L);
  private final RandomGenerator random = Randomness.seeded(seed);
  private final long[] times = new long[ROUNDS];

  /** For each round, the values of all counters after it. */
  private final long[][] values = new long[ROUNDS][HistoryWorker.COUNTERS];

  private long boundaries; // that were compared
  private int checked; // the last round when that was done

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  HistoryKillIT() {}

  /** A running worker. */
  private record Worker(Process process, BufferedReader out, PrintStream in) {
    static Worker start(Path directory, long millis) throws IOException {
      List<String> command =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xmx512m",
              "-cp",
              System.getProperty("java.class.path"),
              HistoryWorker.class.getName(),
              directory.toString(),
              Long.toString(millis));
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      return new Worker(
          process,
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)),
          new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8));
    }

    void kill() throws InterruptedException {
      process.toHandle().destroyForcibly();
      process.waitFor();
    }
  }

  @Test
  void everyBoundaryEqualsARecount() throws Exception {
    recount();
    int[] kills = random.ints(KILLS, 1, ROUNDS).sorted().toArray();
    Worker worker = Worker.start(directory, times[0]);
    for (int round = 0, killed = 0; round < ROUNDS; round++) {
      worker.in.println(times[round] + " " + round);
      while (killed < KILLS && kills[killed] == round) {
        Thread.sleep(random.nextInt(20)); // the moment varies; any is right
        worker.kill();
        killed++;
        check(round, new int[] {random.nextInt(HistoryWorker.COUNTERS)});
        worker = Worker.start(directory, times[round]);
        worker.in.println(times[round] + " " + round); // under the same ids
      }
      assertEquals(Integer.toString(round), worker.out.readLine(), "seed " + seed);
    }
    worker.kill();
    check(ROUNDS - 1, IntStream.range(0, HistoryWorker.COUNTERS).toArray());
    assertTrue(boundaries > 10_000, boundaries + " boundaries");
    System.out.printf(
        "HistoryKillIT: %,d adds, %d kills, %,d boundaries compared, seed %d%n",
        ADDS, KILLS, boundaries, seed);
  }

  /** Computes the times of all rounds, none of them a boundary, and all values. */
  private void recount() {
    long step = LENGTH.toMillis() / ROUNDS;
    long[] sums = new long[HistoryWorker.COUNTERS];
    for (int round = 0; round < ROUNDS; round++) {
      long millis = START.toEpochMilli() + round * step + random.nextLong(step);
      times[round] = millis % 1_000 == 0 ? millis + 1 : millis;
      for (int i = 0; i < HistoryWorker.ROUND_ADDS; i++) {
        Add add = HistoryWorker.add(round, i);
        sums[Integer.parseInt(add.counter().substring(2))] += add.delta();
      }
      values[round] = sums.clone();
    }
  }

  /** Compares what the directory has of counters, at the time of a round that may be half done. */
  private void check(int round, int[] counters) {
    checked = round;
    Instant now = Instant.ofEpochMilli(times[round]);
    Instant begin = Instant.ofEpochMilli(times[0]);
    Instant recent = now.minus(Duration.ofDays(2)); // for which minutes are kept
    Map<String, List<Instant>> wanted = new TreeMap<>();
    STEPS.forEach((zone, unit) -> wanted.put(zone, boundaries(begin, now, unit, ZoneId.of(zone))));
    wanted.put(
        "minutes of two days",
        boundaries(
            recent.isAfter(begin) ? recent : begin, now, ChronoUnit.MINUTES, ZoneId.of("UTC")));
    ManualClock clock = new ManualClock(now.toEpochMilli());
    try (Engine engine = Engine.open(directory, HistoryWorker.options(clock))) {
      CounterHistory history = engine.history();
      wanted.forEach((what, at) -> {
        if (at.isEmpty()) {
          return;
        }
        for (int counter : counters) {
          for (Point point : history.values("c/" + counter, at)) {
            long value = valueAt(point.at(), counter);
            assertTrue(point.isKnown(), () -> describe(counter, point.at(), what));
            assertEquals(
                value == 0 ? Optional.empty() : Optional.of(value),
                point.reading().map(each -> each.value()),
                () -> describe(counter, point.at(), what));
            boundaries++;
          }
        }
        if (counters.length > 1) {
          checkSums(history.sums("c/", at), what);
        }
      });
    }
  }

  private void checkSums(List<Sum> sums, String what) {
    for (Sum each : sums) {
      int last = lastRoundBefore(each.at());
      long expected = last < 0 ? 0 : Arrays.stream(values[last]).sum();
      assertEquals(
          BigDecimal.valueOf(expected),
          each.sum().orElseThrow(),
          "sum at %s, %s, seed %d".formatted(each.at(), what, seed));
      boundaries++;
    }
  }

  private String describe(int counter, Instant at, String what) {
    return "c/%d at %s, %s, round %d at %s, seed %d"
        .formatted(counter, at, what, checked, Instant.ofEpochMilli(times[checked]), seed);
  }

  private long valueAt(Instant boundary, int counter) {
    int last = lastRoundBefore(boundary);
    return last < 0 ? 0 : values[last][counter];
  }

  private int lastRoundBefore(Instant boundary) {
    int at = Arrays.binarySearch(times, boundary.toEpochMilli());
    return at < 0 ? -at - 2 : at - 1;
  }

  /**
   * Returns the boundaries of a unit in a zone, by the calendar of Java, after one and up to now.
   */
  private static List<Instant> boundaries(Instant from, Instant now, ChronoUnit unit, ZoneId zone) {
    List<Instant> found = new ArrayList<>();
    ZonedDateTime at = from.atZone(zone).truncatedTo(unit);
    while (true) {
      at =
          unit == ChronoUnit.DAYS
              ? at.toLocalDate().plusDays(1).atStartOfDay(zone)
              : at.plus(1, unit);
      if (at.toInstant().isAfter(now)) {
        return found;
      }
      found.add(at.toInstant());
    }
  }
}
