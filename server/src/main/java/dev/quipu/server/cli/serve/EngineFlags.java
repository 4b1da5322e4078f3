package dev.quipu.server.cli.serve;

import dev.quipu.engine.Durability;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.server.cli.input.SizeConverter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the engine, which other stores do not have. */
public final class EngineFlags {
  /** The heap that remains for request ids and requests: at least one part in this many. */
  private static final int MEMORY_SHARE = 4;

  private static final long SNAPSHOT_AFTER_MIN = 16 << 20;

  /** Segments of the log between two snapshots: at least this many. */
  private static final int SEGMENTS_MIN = 4;

  @Option(
      names = "--durability",
      paramLabel = "WHEN",
      converter = DurabilityConverter.class,
      description =
          "When the engine syncs to disk: fsync, before each acknowledgement; interval=TIME,"
              + " periodically; none, when the system does. A power failure loses adds that were"
              + " not synced; a killed process loses nothing (default fsync).")
  private Durability durability = Durability.FSYNC;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      converter = SizeConverter.class,
      description =
          "Memory for the counters, texts, items and holds of the engine, such as 512m or 4g, from"
              + " 1m to three quarters of the heap (default: half of the heap, which is half of the"
              + " memory of the machine). Writes that need more are rejected.")
  private @Nullable Long memory;

  @Option(
      names = "--history",
      paramLabel = "RULES",
      converter = HistoryConverter.class,
      description =
          "Keep the values of counters at the end of each minute, hour or day, such as"
              + " 'views/*=minute:2d,hour:90d,day@Europe/Berlin:5y'; rules are separated by ;"
              + " (default: those of the last start, at first none). State all of them: what was"
              + " recorded by other rules is not discarded unless named, such as 'views/*=none', or"
              + " 'views/*=none,day:5y' for new steps. none discards all.")
  private @Nullable HistoryRules history;

  @Option(
      names = "--snapshot-after",
      paramLabel = "SIZE",
      converter = SizeConverter.class,
      description =
          "Take a snapshot after this much log, from 16m (default: 256m). With less, a start after"
              + " a crash reads less, and more is written.")
  private @Nullable Long snapshotAfter;

  Durability durability() {
    return durability;
  }

  /**
   * Returns the options of an engine.
   *
   * @throws IllegalArgumentException if the heap is too small
   */
  EngineOptions options(CountingFlags counting) {
    EngineOptions options =
        EngineOptions.defaults()
            .withWindow(counting.window())
            .withDurability(durability)
            .withScales(counting.scales());
    if (history != null) {
      options = options.withHistory(history);
    }
    if (snapshotAfter != null) {
      options = withSnapshotAfter(options, snapshotAfter);
    }
    if (memory == null) {
      return options;
    }
    long heap = Runtime.getRuntime().maxMemory();
    long bytes = withinHeap(memory, heap);
    long index = Math.min(options.idIndexBytesMax(), (heap - bytes) / MEMORY_SHARE);
    return options.withMemoryBytesMax(bytes).withIdIndexBytesMax(index);
  }

  private static EngineOptions withSnapshotAfter(EngineOptions options, long bytes) {
    if (bytes < SNAPSHOT_AFTER_MIN) {
      throw new IllegalArgumentException(
          "--snapshot-after is %d MiB; it must be at least 16 MiB".formatted(bytes >> 20));
    }
    int segment = (int) Math.min(options.segmentBytes(), bytes / SEGMENTS_MIN);
    return options.withLog(segment, bytes);
  }

  private static long withinHeap(long bytes, long heap) {
    long most = heap / MEMORY_SHARE * (MEMORY_SHARE - 1);
    if (bytes > most) {
      long needed = bytes / (MEMORY_SHARE - 1) * MEMORY_SHARE;
      throw new IllegalArgumentException(
          ("--memory is %d MiB; the heap of %d MiB allows at most %d MiB. Set less, or start with a"
                  + " larger heap, if the machine has the memory, such as JAVA_OPTS=-Xmx%dm")
              .formatted(bytes >> 20, heap >> 20, most >> 20, (needed >> 20) + 1));
    }
    return bytes;
  }

  /**
   * Requires, for another store, that no option is set.
   *
   * @throws IllegalArgumentException naming the first that is
   */
  void requireUnset() {
    List<String> set = new ArrayList<>();
    if (!(durability instanceof Durability.Fsync)) {
      set.add("--durability");
    }
    if (memory != null) {
      set.add("--memory");
    }
    if (history != null) {
      set.add("--history");
    }
    if (snapshotAfter != null) {
      set.add("--snapshot-after");
    }
    if (!set.isEmpty()) {
      throw new IllegalArgumentException(
          set.getFirst() + " needs the engine (--data, or --store engine:DIR)");
    }
  }
}
