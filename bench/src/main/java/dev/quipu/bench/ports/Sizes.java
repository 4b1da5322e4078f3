package dev.quipu.bench.ports;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.RequestId;
import dev.quipu.bench.library.Growth;
import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.bench.ports.subject.WrongCountException;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.testservers.DataDirectory;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/** Measures the memory, disk space and startup time of the engine. */
public final class Sizes {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;
  private static final int GROUP = 1_000;
  private static final int MILLION = 1_000_000;
  private static final int RECOVERED_MILLIONS = 10;
  private static final int STARTS = 5;
  private static final int IDS_IN_MEMORY = 1 << 25;

  private final Clock clock = Clock.system();
  private final int millions;

  private Sizes(int millions) {
    this.millions = millions;
  }

  /**
   * Measures all.
   *
   * @param arguments millions of adds to recover, if not the default; also the most millions of
   *     counters
   * @param machine date and machine, for the header
   * @return the page
   */
  public static String measure(List<String> arguments, String machine) throws Exception {
    int millions = arguments.isEmpty() ? RECOVERED_MILLIONS : Integer.parseInt(arguments.get(0));
    Sizes sizes = new Sizes(millions);
    return head(machine)
        + memory()
        + sizes.log()
        + sizes.starts()
        + sizes.recovery()
        + sizes.growth();
  }

  private static String head(String machine) throws IOException {
    return """
    # Sizes of the engine

    Repeat it with `./dev bench sizes`. In process, on the engine with default options unless
    stated, in groups of %,d adds (`addAll`): a group is on disk before the next one is sent.
    Bytes are about the same on any machine; times are not.

    Measured on %s.
    Heap of %,d MiB; data are on %s.
    """
        .formatted(
            GROUP,
            machine,
            Runtime.getRuntime().maxMemory() >> 20,
            Files.getFileStore(Path.of(System.getProperty("java.io.tmpdir"))).type());
  }

  private static String memory() throws IOException, InterruptedException {
    return """

    ## Memory

    Increase of the heap in use after a full collection, in bytes per item. Names have 16 letters.
    The newest %,d request ids are kept in memory; of older ones, which are on disk, an index in
    memory has about 8 bytes each. Java selects G1 on two cores or more, and the serial
    collector on one.

    | item | number | G1 | serial |
    |---|---|---|---|
    %s\
    """
        .formatted(EngineOptions.defaults().idsInMemoryMax(), Memory.rows());
  }

  private String log() throws IOException {
    return """

    ## Log

    Plain adds of a group to one counter share one log record.

    | adds | counters | bytes of log per add |
    |---|---|---|
    | plain | 1 | %.2f |
    | plain | 10,000 | %.2f |
    | exactly once | 1 | %.2f |
    | exactly once | 10,000 | %.2f |
    """
        .formatted(
            logEach(number -> new Add(name(0), 1, null)),
            logEach(number -> new Add(name(spread(number, Workload.KEYS_MAX)), 1, null)),
            logEach(number -> new Add(name(0), 1, id(number))),
            logEach(number -> new Add(name(spread(number, Workload.KEYS_MAX)), 1, id(number))));
  }

  private double logEach(LongFunction<Add> adds) throws IOException {
    Path directory = Files.createTempDirectory("quipu-sizes");
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      // The counters exist before, since their creation is a larger cost that occurs once.
      add(engine, Workload.KEYS_MAX, number -> new Add(name(number), 1, null));
      long before = engine.statistics().logBytes();
      add(engine, MILLION, adds);
      return (engine.statistics().logBytes() - before) / (double) MILLION;
    } finally {
      DataDirectory.delete(directory);
    }
  }

  private String starts() throws Exception {
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < STARTS; i++) {
      try (QuipuServer server = QuipuServer.start(List.of(), false, List.of())) {
        millis.add(server.start().toNanos() / 1e6);
      }
    }
    return String.format(
        Locale.ROOT,
        """

        ## Start

        `java -jar quipu.jar serve` on an empty directory, from the start of the process to its
        ready line, median of %d: %,.0f ms.
        """,
        STARTS,
        Comparison.median(millis));
  }

  private String recovery() throws IOException {
    EngineOptions logAlone =
        EngineOptions.defaults()
            .withLog(EngineOptions.defaults().segmentBytes(), Long.MAX_VALUE)
            .withIdsInMemoryMax(IDS_IN_MEMORY);
    return """

    ## Recovery

    %d million adds exactly once, over 10,000 counters; then the files are copied while the engine
    is open, as after a crash, and the copy is opened.

    | options | seconds to open |
    |---|---|
    | log only: no snapshot, no id file | %.2f |
    | default | %.2f |
    """
        .formatted(millions, recovery(logAlone), recovery(EngineOptions.defaults()));
  }

  private double recovery(EngineOptions options) throws IOException {
    Path directory = Files.createTempDirectory("quipu-sizes");
    Path copy = Files.createTempDirectory("quipu-sizes");
    long adds = (long) millions * MILLION;
    try {
      try (Engine engine = Engine.open(directory, options)) {
        add(
            engine,
            adds,
            number -> new Add(name(spread(number, Workload.KEYS_MAX)), 1, id(number)));
        copy(directory, copy);
      }
      System.gc();
      long start = clock.nanoTime();
      try (Engine engine = Engine.open(copy, options)) {
        double seconds = (clock.nanoTime() - start) / 1e9;
        check(engine, adds);
        return seconds;
      }
    } finally {
      DataDirectory.delete(directory);
      DataDirectory.delete(copy);
    }
  }

  private static void check(Engine engine, long adds) {
    long sum = 0;
    for (int i = 0; i < Workload.KEYS_MAX; i++) {
      sum += engine.read(name(i)).orElseThrow().value();
    }
    if (sum != adds) {
      throw new WrongCountException(
          "after recovery", new Workload(AddKind.ONCE, Workload.KEYS_MAX, 1), adds, sum);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        Files.createDirectories(target.getParent());
        Files.copy(file, target);
      }
    }
  }

  private String growth() throws Exception {
    return """

    ## Throughput as counters grow

    Adds per second to counters at random, plain, in groups of 1,000 of one client, each of which is
    on disk before the next one is sent; all counters exist before. Turns of 2 s that alternate,
    the median of 5. RocksDB, in process, with its operator that adds without reading and returns
    no value; Redis with `appendfsync always`, over the network, 1,000 `INCR` in one pipeline.

    | counters | Quipu | RocksDB | Redis |
    |---|---|---|---|
    %s\
    """
        .formatted(Growth.measure((long) millions * MILLION));
  }

  static void add(Engine engine, long count, LongFunction<Add> adds) {
    for (long from = 0; from < count; from += GROUP) {
      addGroup(engine, from, adds);
    }
  }

  private static void addGroup(Engine engine, long from, LongFunction<Add> adds) {
    List<Add> group = new ArrayList<>(GROUP);
    for (long number = from; number < from + GROUP; number++) {
      group.add(adds.apply(number));
    }
    for (ItemResult result : engine.addAll(group)) {
      if (!(result instanceof AddResult.Applied)) {
        throw new IllegalStateException("not applied: " + result);
      }
    }
  }

  private static long spread(long number, int counters) {
    return ((number * SPREAD) >>> 1) % counters;
  }

  static RequestId id(long number) {
    return RequestId.of(number * SPREAD, number);
  }

  static String name(long number) {
    String digits = Long.toString(number);
    return "counter/" + "00000000".substring(digits.length()) + digits;
  }
}
