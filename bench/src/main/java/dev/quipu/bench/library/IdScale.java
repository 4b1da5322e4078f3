package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.RequestId;
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
import java.util.stream.Stream;

/** The cost of an add under an id, by the number of ids that the engine remembers. */
public final class IdScale {
  private static final int COUNTERS = 10_000;
  private static final int GROUP = 4_096;
  private static final long STEP_IDS = 1_000_000;

  private final Engine engine;
  private final Path directory;
  private long sequence;

  private IdScale(Engine engine, Path directory) {
    this.engine = engine;
    this.directory = directory;
  }

  /** Returns the rows of the table, up to this number of ids. */
  public static String measure(long idsMax) throws Exception {
    Path directory =
        Files.createTempDirectory(Path.of(System.getProperty("bench.dir", ".")), "ids");
    StringBuilder rows = new StringBuilder();
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      IdScale scale = new IdScale(engine, directory);
      scale.add(2 * STEP_IDS); // compiles
      for (long milestone = 4 * STEP_IDS; milestone <= idsMax; milestone *= 2) {
        long count = milestone - scale.sequence;
        rows.append(scale.row(scale.add(count) / count));
      }
    } finally {
      DataDirectory.delete(directory);
    }
    return rows.toString();
  }

  private String row(double nanosPerAdd) throws IOException {
    Path ids = directory.resolve("ids");
    try (Stream<Path> files = Files.list(ids)) {
      List<Path> all = files.toList();
      long bytes = 0;
      for (Path file : all) {
        bytes += Files.size(file);
      }
      String row =
          String.format(
              Locale.ROOT,
              "| %,d | %,.0f | %,.0f | %d | %,d |%n",
              sequence,
              1e9 / nanosPerAdd,
              nanosPerAdd,
              all.size(),
              bytes / 1_000_000);
      System.out.print(row);
      return row;
    }
  }

  /** Adds under new ids; returns the time in nanoseconds. */
  private double add(long count) {
    long start = Clock.system().nanoTime();
    for (long done = 0; done < count; done += GROUP) {
      List<Add> adds = new ArrayList<>(GROUP);
      for (int i = 0; i < GROUP; i++) {
        long number = sequence++;
        RequestId id = RequestId.of(number * 0x9E3779B97F4A7C15L, number);
        adds.add(new Add("counter/" + Long.remainderUnsigned(id.high(), COUNTERS), 1, id));
      }
      for (ItemResult result : engine.addAll(adds)) {
        var unused = result.result().orElseThrow();
      }
    }
    return Clock.system().nanoTime() - start;
  }
}
