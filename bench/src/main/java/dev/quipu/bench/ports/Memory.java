package dev.quipu.bench.ports;

import dev.quipu.Add;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.testservers.DataDirectory;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;

/**
 * Measures the heap of counters and request ids. Each figure comes from a separate JVM, since
 * existing objects would distort it; collectors round up large arrays in different ways.
 */
final class Memory {
  private static final int MILLION = 1_000_000;
  private static final String COUNTERS = "counter";
  private static final String IDS = "request id";

  private Memory() {}

  /** Returns a row for each kind and number. */
  static String rows() throws IOException, InterruptedException {
    return row(COUNTERS, 1) + row(IDS, 1) + row(IDS, 2);
  }

  private static String row(String what, int millions) throws IOException, InterruptedException {
    return "| %s | %d million | %s | %s |%n"
        .formatted(
            what,
            millions,
            each("-XX:+UseG1GC", what, millions),
            each("-XX:+UseSerialGC", what, millions));
  }

  private static String each(String collector, String what, int millions)
      throws IOException, InterruptedException {
    String printed =
        Processes.run(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + (Runtime.getRuntime().maxMemory() >> 20) + "m",
                collector,
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                "-cp",
                System.getProperty("java.class.path"),
                Memory.class.getName(),
                what,
                Integer.toString(millions)));
    return printed.lines().reduce("", (before, line) -> line);
  }

  /** Prints bytes per item for a number of millions of counters or request ids. */
  public static void main(String[] arguments) throws IOException {
    boolean counters = arguments[0].equals(COUNTERS);
    long count = Long.parseLong(arguments[1]) * MILLION;
    LongFunction<Add> adds =
        counters
            ? number -> new Add(Sizes.name(number), 1, null)
            : number -> new Add(COUNTERS, 1, Sizes.id(number));
    Path directory = Files.createTempDirectory("quipu-sizes");
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      long before = heap();
      Sizes.add(engine, count, adds);
      double bytes = (heap() - before) / (double) count;
      System.out.printf(Locale.ROOT, "%.0f%n", bytes);
    } finally {
      DataDirectory.delete(directory);
    }
  }

  private static long heap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
