package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * Runs {@link CrashWorker}s on one directory, kills each, and checks afterwards that every
 * acknowledged add was applied exactly once and every other one at most once.
 */
final class CrashLoop {
  private static final Duration LOOK_EVERY = Duration.ofMillis(1);

  private final Path directory;
  private final RandomGenerator random;
  private final List<int[]> acknowledged = new ArrayList<>();
  private final Map<String, Long> sums = new HashMap<>();
  private final String durability;
  private long requests;
  private long lost;

  CrashLoop(Path directory, RandomGenerator random) {
    this(directory, random, "fsync");
  }

  /**
   * With another durability, by its name in {@link CrashWorker}; lost requests are then counted.
   */
  CrashLoop(Path directory, RandomGenerator random, String durability) {
    this.directory = directory;
    this.random = random;
    this.durability = durability;
  }

  /** Returns the number of acknowledged requests that were lost. */
  long lost() {
    return lost;
  }

  /** How a worker is ended. */
  interface End {
    void end(Process worker) throws Exception;
  }

  /** Runs one worker from start to end. Returns when all its output was read. */
  void run(End end) throws Exception {
    int run = acknowledged.size();
    Process worker = start(Integer.toString(run));
    int[] acks = new int[CrashWorker.CLIENTS];
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(worker.getInputStream(), StandardCharsets.UTF_8));
    String first = lines.readLine();
    Thread reader = Thread.ofVirtual().start(() -> read(lines, acks));
    assertTrue(first != null, "the worker did not start");
    // The number of acknowledgements before the end varies, which makes the moment random.
    long target = random.nextLong(3_000);
    Progress progress = new Progress("acknowledgements of run " + run, () -> total(acks));
    while (total(acks) < target && worker.isAlive()) {
      progress.check();
      Clock.system().sleep(LOOK_EVERY);
    }
    end.end(worker);
    worker.waitFor();
    reader.join();
    acknowledged.add(acks);
  }

  private Process start(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Ddurability=" + durability,
                "-cp",
                System.getProperty("java.class.path"),
                CrashWorker.class.getName(),
                directory.toString()));
    command.addAll(List.of(arguments));
    // A worker whose disk disappears logs many errors: its exit code and the missing output
    // suffice.
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  private static void read(BufferedReader lines, int[] acks) {
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] parts = line.split(" ", -1);
        if (parts.length == 2) {
          synchronized (acks) {
            acks[Integer.parseInt(parts[0])] = Integer.parseInt(parts[1]);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long total(int[] acks) {
    synchronized (acks) {
      long total = 0;
      for (int each : acks) {
        total += each;
      }
      return total;
    }
  }

  /**
   * Checks the last run and the values of all counters in a separate process, so that nothing holds
   * the disk afterwards. Returns the number of requests applied so far.
   */
  long check() throws Exception {
    int run = acknowledged.size() - 1;
    List<String> arguments = new ArrayList<>(List.of(Integer.toString(run)));
    for (int acks : acknowledged.get(run)) {
      arguments.add(Integer.toString(acks + 2 * CrashWorker.BATCH));
    }
    Process looker = start(arguments.toArray(String[]::new));
    boolean ended = false;
    List<String> values = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(looker.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        ended |= line.equals("end");
        String[] parts = line.split(" ", -1);
        if (parts[0].equals("request")) {
          checkRequest(
              run,
              Integer.parseInt(parts[1]),
              Integer.parseInt(parts[2]),
              Long.parseLong(parts[3]));
        } else if (parts[0].equals("value")) {
          values.add(line);
        }
      }
    }
    assertEquals(0, looker.waitFor(), "the directory does not open after run " + run);
    assertTrue(ended);
    for (String value : values) {
      String[] parts = value.split(" ", -1);
      assertEquals(
          sums.getOrDefault(parts[1], 0L), Long.parseLong(parts[2]), parts[1] + " after " + run);
    }
    return requests;
  }

  private void checkRequest(int run, int client, int number, long added) {
    int acks = acknowledged.get(run)[client];
    Add add = CrashWorker.request(run, client, number);
    String what = "request " + add.id() + ", of which " + acks + " were acknowledged";
    if (added == 0) {
      assertTrue(number >= acks || !durability.equals("fsync"), what + ": LOST");
      lost += number < acks ? 1 : 0;
      return;
    }
    assertEquals(add.delta(), added, what);
    assertTrue(number < acks + CrashWorker.BATCH, what + ": it was never requested");
    sums.merge(add.counter(), added, Long::sum);
    requests++;
  }
}
