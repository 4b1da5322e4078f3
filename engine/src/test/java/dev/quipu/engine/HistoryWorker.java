package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.RequestId;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.simulation.time.ManualClock;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process to be killed, whose clock the test sets: it reads a time and the number of a round from
 * standard input, makes all adds of the round at that time, several at once, and prints the number.
 */
final class HistoryWorker {
  static final int ROUND_ADDS = 400;
  static final int COUNTERS = 60;

  private static final int CLIENTS = 4;
  private static final int BATCH = 20;
  private static final HistoryRules RULES =
      HistoryRules.parse(
          "c/*=minute:2d,hour:90d,hour@Asia/Kolkata:90d,day:5y,day@Europe/Berlin:5y,"
              + "day@America/New_York:5y");

  private HistoryWorker() {}

  /** Segments and snapshots end all the time. */
  static EngineOptions options(ManualClock clock) {
    return EngineOptions.defaults()
        .withDurability(Durability.NONE)
        .withLog(4 << 20, 16 << 20)
        .withHistory(RULES)
        .withClock(clock);
  }

  /** Returns an add of a round; some counters change in each round, others seldom. */
  static Add add(int round, int number) {
    int mixed = (round * ROUND_ADDS + number) * 0x9E3779B9;
    int kind = mixed >>> 28;
    int counter = kind < 12 ? (mixed >>> 8) % 6 : round % 7 == 0 ? (mixed >>> 8) % COUNTERS : kind;
    return new Add("c/" + counter, 1 + (mixed & 3), RequestId.of("r" + round + "-" + number));
  }

  /** Arguments: directory, time in milliseconds. */
  public static void main(String[] arguments) throws Exception {
    ManualClock clock = new ManualClock(Long.parseLong(arguments[1]));
    PrintStream out = new PrintStream(System.out, true);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Engine engine = Engine.open(Path.of(arguments[0]), options(clock))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] parts = line.split(" ", -1);
        clock.advance(Duration.ofMillis(Long.parseLong(parts[0]) - clock.epochMillis()));
        // A group of commits that began before may still take adds: it ends before this returns.
        var unused = engine.add(new Add("group", 1, null));
        int round = Integer.parseInt(parts[1]);
        addAll(engine, round);
        out.println(round);
      }
    }
  }

  private static void addAll(Engine engine, int round) throws InterruptedException {
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      clients.add(Thread.ofPlatform().start(() -> addSome(engine, round, client)));
    }
    for (Thread each : clients) {
      each.join();
    }
  }

  private static void addSome(Engine engine, int round, int client) {
    for (int first = client * BATCH; first < ROUND_ADDS; first += CLIENTS * BATCH) {
      List<Add> adds = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        adds.add(add(round, first + i));
      }
      for (ItemResult result : engine.addAll(adds)) {
        if (!(result.result() instanceof AddResult.Success)) {
          Runtime.getRuntime().halt(3);
        }
      }
    }
  }
}
