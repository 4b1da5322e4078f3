package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.RequestId;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.testservers.DataDirectory;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Many counters, each of which is written once under a request id, in a process of their own that
 * is then killed; another process opens the directory, checks a sample, waits for a snapshot, adds
 * to some, and is killed, too; a third one opens it and checks again.
 */
public final class LargeState {
  private static final int GROUP = 4_096;
  private static final int SAMPLE = 100_000;
  private static final int DELTAS = 1_000;
  private static final int ADDED = 1_000_000;
  private static final long SPREAD = 0x9E3779B97F4A7C15L; // odd: all names differ
  private static final String HEAP = "-Xmx7g";
  private static final long STATE_BYTES_MAX = 6L << 30;
  private static final long INDEX_BYTES_MAX = 256 << 20;
  private static final String READY = "ready ";

  private LargeState() {}

  /** Returns the rows of the table. */
  public static String measure(long counters) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("quipu-large").resolve("data");
    try {
      String written = run("write", directory, counters);
      String opened = run("add", directory, counters);
      long onDisk = mebibytes(directory);
      String again = run("open", directory, counters);
      return "| %,d | %s | %,d | %s | %s |%n".formatted(counters, written, onDisk, opened, again);
    } finally {
      DataDirectory.delete(directory.resolveSibling("data"));
    }
  }

  private static long mebibytes(Path directory) throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        bytes += Files.size(file);
      }
    }
    return bytes >> 20;
  }

  /** Runs this class until it is ready, and kills it. */
  private static String run(String what, Path directory, long counters)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                HEAP,
                "-XX:+UseTransparentHugePages",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                LargeState.class.getName(),
                what,
                directory.toString(),
                Long.toString(counters))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "stop-large"));
    try (BufferedReader printed = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = printed.readLine(); line != null; line = printed.readLine()) {
        System.err.println(line);
        if (line.startsWith(READY)) {
          return line.substring(READY.length());
        }
      }
    } finally {
      process.destroyForcibly();
      process.waitFor();
    }
    throw new IOException("the process that should " + what + " has ended");
  }

  /** Writes or opens a directory, and waits to be killed. */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[1]);
    long counters = Long.parseLong(arguments[2]);
    long start = Clock.system().nanoTime();
    Engine engine =
        Engine.open(
            directory,
            EngineOptions.defaults()
                .withMemoryBytesMax(STATE_BYTES_MAX)
                .withIdIndexBytesMax(INDEX_BYTES_MAX)); // as serve --memory does
    double seconds = seconds(start);
    switch (arguments[0]) {
      case "write" -> {
        write(engine, counters, LargeState::add);
        String rate = String.format(Locale.ROOT, "%,.0f", counters / seconds(start));
        System.out.println(READY + rate + " | " + resident());
      }
      case "add" -> {
        check(engine, counters, 0);
        String opened = String.format(Locale.ROOT, "%.1f | %s", seconds, resident());
        System.out.println("opened in " + opened);
        engine.checkpoint();
        write(engine, ADDED, LargeState::again);
        System.out.println(READY + opened);
      }
      default -> {
        check(engine, counters, ADDED);
        System.out.println(READY + String.format(Locale.ROOT, "%.1f", seconds));
      }
    }
    Clock.system().sleep(Duration.ofDays(1));
  }

  private static double seconds(long start) {
    return (Clock.system().nanoTime() - start) / 1e9;
  }

  private static Add add(long number) {
    String name = String.format(Locale.ROOT, "%016x", number * SPREAD);
    return new Add(name, 1 + number % DELTAS, RequestId.of(SPREAD, number));
  }

  /** An add to the same counter. */
  private static Add again(long number) {
    return new Add(add(number).counter(), 1, RequestId.of(number, SPREAD));
  }

  private static void write(Engine engine, long count, LongFunction<Add> adds) {
    List<Add> group = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      group.add(adds.apply(i));
      if (group.size() == GROUP || i + 1 == count) {
        for (ItemResult result : engine.addAll(group)) {
          if (!(result instanceof AddResult.Applied)) {
            throw new IllegalStateException(result.toString());
          }
        }
        group.clear();
      }
      if ((i + 1) % 10_000_000 == 0) {
        System.out.printf(Locale.ROOT, "%,d counters | %s%n", i + 1, resident());
      }
    }
  }

  /**
   * Compares a random sample, and the total number, to what was written.
   *
   * @param added the number of counters to which was added again
   */
  private static void check(Engine engine, long counters, long added) {
    if (engine.statistics().counters() != counters) {
      throw new IllegalStateException(engine.statistics().toString());
    }
    RandomGenerator random = Randomness.seeded(1);
    for (int i = 0; i < SAMPLE; i++) {
      checkOne(engine, random.nextLong(counters), added);
      if (added > 0) {
        checkOne(engine, random.nextLong(added), added);
      }
    }
  }

  private static void checkOne(Engine engine, long number, long added) {
    Add add = add(number);
    long expected = add.delta() + (number < added ? 1 : 0);
    boolean isReplayed = engine.add(add) instanceof AddResult.Replayed;
    boolean isAgain = number >= added || engine.add(again(number)) instanceof AddResult.Replayed;
    if (engine.read(add.counter()).orElseThrow().value() != expected || !isReplayed || !isAgain) {
      throw new IllegalStateException(add + " is not what was written");
    }
  }

  /** Returns the memory of this process, and its pages of mapped files. */
  private static String resident() {
    return "%,d | %,d".formatted(mebibytesOf("RssAnon:"), mebibytesOf("RssFile:"));
  }

  private static long mebibytesOf(String kind) {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith(kind)) {
          return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
        }
      }
    } catch (IOException e) {
      return -1; // not on Linux
    }
    return -1;
  }
}
