package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.backend.CounterFeed;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.testservers.DataDirectory;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What adds cost more if the past is kept, or if changes are followed. */
public final class FollowCosts {
  private static final int COUNTERS = 100_000;
  private static final int GROUP = 1_024;
  private static final int ROUNDS = 240; // three minutes, so that minutes end
  private static final int ROUNDS_BEFORE = 8; // in which the JVM compiles
  private static final long TURN_NANOS = 250_000_000L; // short: the machine is the same for all
  private static final long TICK_NANOS = 100_000_000L;

  private final Engine engine;
  private final boolean isFollowed;
  private long sequence;

  private FollowCosts(Engine engine, boolean isFollowed) {
    this.engine = engine;
    this.isFollowed = isFollowed;
  }

  /** Returns the rows of the table. */
  public static String measure() throws IOException {
    Path root = Files.createTempDirectory(Path.of(System.getProperty("bench.dir", ".")), "past");
    EngineOptions plain = EngineOptions.defaults().withDurability(Durability.NONE);
    HistoryRules rules = HistoryRules.parse("*=minute:2d,hour:90d,day:5y");
    try (Engine none = Engine.open(root.resolve("none"), plain);
        Engine kept = Engine.open(root.resolve("kept"), plain.withHistory(rules));
        Engine followed = Engine.open(root.resolve("followed"), plain)) {
      List<FollowCosts> all =
          List.of(
              new FollowCosts(none, false),
              new FollowCosts(kept, false),
              new FollowCosts(followed, true));
      double[][] rates = new double[all.size()][ROUNDS];
      for (int round = -ROUNDS_BEFORE; round < ROUNDS; round++) {
        for (int turn = 0; turn < all.size(); turn++) {
          int i = Math.floorMod(round + turn, all.size()); // each comes first as often
          double rate = all.get(i).add();
          if (round >= 0) {
            rates[i][round] = rate;
          }
        }
      }
      return row("neither", rates[0], rates[0])
          + row("the past is kept: minutes, hours, days", rates[1], rates[0])
          + row("changes are read every 100 ms", rates[2], rates[0]);
    } finally {
      DataDirectory.delete(root);
    }
  }

  /** Returns a row: means, which the end of a minute is part of, and the middle half of rounds. */
  private static String row(String what, double[] rates, double[] base) {
    double[] ratios = new double[rates.length];
    Arrays.setAll(ratios, round -> rates[round] / base[round]);
    Arrays.sort(ratios);
    String row =
        String.format(
            Locale.ROOT,
            "| %s | %,.0f | %.3f | %.3f..%.3f |%n",
            what,
            mean(rates),
            mean(rates) / mean(base),
            ratios[ratios.length / 4],
            ratios[ratios.length * 3 / 4]);
    System.out.print(row);
    return row;
  }

  private static double mean(double[] rates) {
    return Arrays.stream(rates).average().orElseThrow();
  }

  /** Adds for the time of a turn; returns adds per second. */
  private double add() {
    long start = Clock.system().nanoTime();
    long next = start;
    long done = 0;
    @Nullable CounterFeed feed = isFollowed ? engine.follow() : null;
    try {
      long now = start;
      while (now - start < TURN_NANOS) {
        List<Add> adds = new ArrayList<>(GROUP);
        for (int i = 0; i < GROUP; i++) {
          long number = sequence++ * 0x9E3779B97F4A7C15L;
          adds.add(new Add("counter/" + Long.remainderUnsigned(number, COUNTERS), 1, null));
        }
        for (ItemResult result : engine.addAll(adds)) {
          var unused = result.result().orElseThrow();
        }
        done += GROUP;
        now = Clock.system().nanoTime();
        if (feed != null && now - next >= 0) {
          next = now + TICK_NANOS;
          read(feed);
        }
      }
      return done * 1e9 / (now - start);
    } finally {
      if (feed != null) {
        feed.close();
      }
    }
  }

  private static void read(CounterFeed feed) {
    boolean isLast = false;
    while (!isLast) {
      isLast = feed.next(1_000).isLast();
    }
  }
}
