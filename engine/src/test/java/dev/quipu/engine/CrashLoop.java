package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.RequestOutcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;

/**
 * Runs {@link CrashWorker}s over one directory, ends each with force, and checks after each that
 * every acknowledged add is there exactly once and every other one once or not at all.
 */
final class CrashLoop {
  private final Path directory;
  private final RandomGenerator random;
  private final List<int[]> acknowledged = new ArrayList<>();
  private final Map<String, Long> sums = new HashMap<>();
  private long requests;

  CrashLoop(Path directory, RandomGenerator random) {
    this.directory = directory;
    this.random = random;
  }

  /** How a worker's life ends. */
  interface End {
    void end(Process worker) throws Exception;
  }

  /** One worker, from start to end. Returns once everything it said was read. */
  void run(End end) throws Exception {
    int run = acknowledged.size();
    Process worker =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                CrashWorker.class.getName(),
                directory.toString(),
                Integer.toString(run))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int[] acks = new int[CrashWorker.CLIENTS];
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(worker.getInputStream(), StandardCharsets.UTF_8));
    String first = lines.readLine();
    Thread reader = Thread.ofVirtual().start(() -> read(lines, acks));
    assertTrue(first != null, "the worker did not start");
    // How much is acknowledged before the end differs: that is what makes the moment random.
    long target = random.nextLong(3_000);
    while (total(acks) < target && worker.isAlive()) {
      Thread.onSpinWait();
    }
    end.end(worker);
    worker.waitFor();
    reader.join();
    acknowledged.add(acks);
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

  /** Checks the last run, and the values of all counters. Returns the requests acknowledged. */
  long check() {
    int run = acknowledged.size() - 1;
    try (Engine engine = Engine.open(directory, CrashWorker.OPTIONS)) {
      for (int client = 0; client < CrashWorker.CLIENTS; client++) {
        checkClient(engine, run, client);
      }
      for (Map.Entry<String, Long> sum : sums.entrySet()) {
        assertEquals(
            sum.getValue(),
            engine.read(sum.getKey()).map(Reading::value).orElse(0L),
            sum.getKey() + " after run " + run);
      }
    }
    return requests;
  }

  private void checkClient(Engine engine, int run, int client) {
    int acks = acknowledged.get(run)[client];
    for (int number = 0; number < acks + 2 * CrashWorker.BATCH; number++) {
      Add add = CrashWorker.request(run, client, number);
      RequestOutcome outcome = engine.outcome(add.counter(), Objects.requireNonNull(add.id()));
      String what = "request " + add.id() + ", of which " + acks + " were acknowledged";
      switch (outcome) {
        case RequestOutcome.Applied applied -> {
          assertEquals(add.delta(), applied.added(), what);
          assertTrue(number < acks + CrashWorker.BATCH, what + ": nobody asked for it");
          sums.merge(add.counter(), add.delta(), Long::sum);
          requests++;
        }
        case RequestOutcome.NotSeen notSeen -> assertTrue(number >= acks, what + ": LOST");
        case RequestOutcome.Sealed sealed -> throw new AssertionError(what + ": sealed");
      }
    }
  }
}
