package dev.quipu.engine;

import dev.quipu.Limits;
import dev.quipu.ScaleRules;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Options of an engine.
 *
 * @param window minimum time that a request id is remembered; 1 s to 366 days. The actual time is
 *     up to a quarter longer, because ids are forgotten in generations, and a wrong clock must not
 *     shorten it.
 * @param segmentBytes size of one log file; 64 KiB to 1 GiB. Two segments are always allocated; the
 *     largest change is half a segment.
 * @param checkpointBytes log bytes after which a snapshot is taken
 * @param idsInMemoryMax request ids kept in memory, at about 28 bytes each, before they are sealed
 *     to disk; 16 to 33,554,432. Up to four times that number while the disk is slow.
 * @param idIndexBytesMax heap limit of the index of the request ids in files, at about 8 bytes
 *     each; the oldest of more ids are looked up in their files, which is slower. It has about a
 *     table of ids in any case.
 * @param memoryBytesMax heap limit of counters, texts and items; writes that need more are
 *     rejected; at least 64 KiB
 * @param durability when acknowledged writes reach the disk
 * @param callDeadline deadline of one call; 1 ms to 1 day
 * @param clock source of time
 * @param scales the scales of new counters; existing ones keep theirs
 * @param history of which counters past values are kept; empty for those of the last time, and none
 *     at first
 */
public record EngineOptions(
    Duration window,
    int segmentBytes,
    long checkpointBytes,
    int idsInMemoryMax,
    long idIndexBytesMax,
    long memoryBytesMax,
    Durability durability,
    Duration callDeadline,
    Clock clock,
    ScaleRules scales,
    Optional<HistoryRules> history) {

  /**
   * The longest window. An engine opened with it forgets nothing that an engine with another window
   * remembers: ids age by the running time of an engine, not by the wall clock at its start.
   */
  public static final Duration WINDOW_MAX = Limits.RETENTION_MAX;

  private static final int SEGMENT_BYTES_MIN = 1 << 16;
  private static final int SEGMENT_BYTES_MAX = 1 << 30;
  private static final int IDS_IN_MEMORY_MIN = 1 << 4;
  private static final int IDS_IN_MEMORY_LIMIT = 1 << 25;
  private static final int IDS_IN_MEMORY_DEFAULT = 2 << 20;
  private static final long MEMORY_BYTES_MIN = 64 << 10;
  private static final Duration DEADLINE_MIN = Duration.ofMillis(1);
  private static final Duration DEADLINE_MAX = Duration.ofDays(1);

  /**
   * The most heap of an id in memory, in bytes, times the maximum number of tables: one active,
   * three waiting.
   */
  private static final int ID_BYTES = 48 * 4;

  /** Fractions of the heap: half for client data, an eighth each for tables of ids and index. */
  private static final int STATE_SHARE = 2;

  private static final int IDS_SHARE = 8;

  /** Fraction of the window by which a start may advance the age of request ids. */
  private static final int LEAP_SHARE = 8;

  /**
   * Validates the options.
   *
   * @throws IllegalArgumentException if an option is out of range, with its name
   */
  public EngineOptions {
    Limits.checkRetention("window", window);
    if (segmentBytes < SEGMENT_BYTES_MIN || segmentBytes > SEGMENT_BYTES_MAX) {
      throw outside("segmentBytes", segmentBytes, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
    }
    if (checkpointBytes < segmentBytes) {
      throw outside("checkpointBytes", checkpointBytes, segmentBytes, Long.MAX_VALUE);
    }
    if (idsInMemoryMax < IDS_IN_MEMORY_MIN || idsInMemoryMax > IDS_IN_MEMORY_LIMIT) {
      throw outside("idsInMemoryMax", idsInMemoryMax, IDS_IN_MEMORY_MIN, IDS_IN_MEMORY_LIMIT);
    }
    if (idIndexBytesMax < 0) {
      throw outside("idIndexBytesMax", idIndexBytesMax, 0, Long.MAX_VALUE);
    }
    if (memoryBytesMax < MEMORY_BYTES_MIN) {
      throw outside("memoryBytesMax", memoryBytesMax, MEMORY_BYTES_MIN, Long.MAX_VALUE);
    }
    if (callDeadline.compareTo(DEADLINE_MIN) < 0 || callDeadline.compareTo(DEADLINE_MAX) > 0) {
      throw outside("callDeadline", callDeadline, DEADLINE_MIN, DEADLINE_MAX);
    }
  }

  /**
   * Returns the defaults: a window of 24 h, segments of 64 MiB (less if they exceed two thirds of
   * the heap), a snapshot every 256 MiB, 2,097,152 ids in memory (fewer if they exceed an eighth of
   * the heap), another eighth for their index, half of the heap for counters, texts and items,
   * fsync, a call deadline of 10 s.
   */
  public static EngineOptions defaults() {
    long heap = Runtime.getRuntime().maxMemory();
    return new EngineOptions(
        Duration.ofHours(24),
        Integer.highestOneBit(Math.clamp(heap / 3 * 2, SEGMENT_BYTES_MIN, 64 << 20)),
        256L << 20,
        Math.clamp(heap / IDS_SHARE / ID_BYTES, IDS_IN_MEMORY_MIN, IDS_IN_MEMORY_DEFAULT),
        heap / IDS_SHARE,
        Math.max(MEMORY_BYTES_MIN, heap / STATE_SHARE),
        Durability.FSYNC,
        Duration.ofSeconds(10),
        Clock.system(),
        ScaleRules.none(),
        Optional.empty());
  }

  /** Returns the settings that the parts of the engine read. */
  Settings settings() {
    return new Settings(
        window,
        window.equals(WINDOW_MAX) ? 0 : window.toMillis() / LEAP_SHARE,
        checkpointBytes,
        idsInMemoryMax,
        idIndexBytesMax,
        memoryBytesMax,
        durability instanceof Durability.Fsync,
        callDeadline,
        clock);
  }

  /** Returns these options with another window. */
  public EngineOptions withWindow(Duration other) {
    return with(draft -> draft.window = other);
  }

  /** Returns these options with other sizes of the log. */
  public EngineOptions withLog(int segment, long checkpoint) {
    return with(draft -> {
      draft.segmentBytes = segment;
      draft.checkpointBytes = checkpoint;
    });
  }

  /** Returns these options with another number of ids in memory. */
  public EngineOptions withIdsInMemoryMax(int other) {
    return with(draft -> draft.idsInMemoryMax = other);
  }

  /** Returns these options with another limit of the index of ids. */
  public EngineOptions withIdIndexBytesMax(long other) {
    return with(draft -> draft.idIndexBytesMax = other);
  }

  /** Returns these options with another memory limit. */
  public EngineOptions withMemoryBytesMax(long other) {
    return with(draft -> draft.memoryBytesMax = other);
  }

  /** Returns these options with another durability. */
  public EngineOptions withDurability(Durability other) {
    return with(draft -> draft.durability = other);
  }

  /** Returns these options with another call deadline. */
  public EngineOptions withCallDeadline(Duration other) {
    return with(draft -> draft.callDeadline = other);
  }

  /** Returns these options with another clock. */
  public EngineOptions withClock(Clock other) {
    return with(draft -> draft.clock = other);
  }

  /** Returns these options with other scales of new counters. */
  public EngineOptions withScales(ScaleRules other) {
    return with(draft -> draft.scales = other);
  }

  /**
   * Returns these options with these past values kept; none if there are no rules. An engine whose
   * recorded past would end by them is not opened, unless they discard it by name.
   */
  public EngineOptions withHistory(HistoryRules other) {
    return with(draft -> draft.history = Optional.of(other));
  }

  private EngineOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new EngineOptions(
        draft.window,
        draft.segmentBytes,
        draft.checkpointBytes,
        draft.idsInMemoryMax,
        draft.idIndexBytesMax,
        draft.memoryBytesMax,
        draft.durability,
        draft.callDeadline,
        draft.clock,
        draft.scales,
        draft.history);
  }

  /** Options that are being changed. */
  private static final class Draft {
    private Duration window;
    private int segmentBytes;
    private long checkpointBytes;
    private int idsInMemoryMax;
    private long idIndexBytesMax;
    private long memoryBytesMax;
    private Durability durability;
    private Duration callDeadline;
    private Clock clock;
    private ScaleRules scales;
    private Optional<HistoryRules> history;

    Draft(EngineOptions options) {
      this.window = options.window;
      this.segmentBytes = options.segmentBytes;
      this.checkpointBytes = options.checkpointBytes;
      this.idsInMemoryMax = options.idsInMemoryMax;
      this.idIndexBytesMax = options.idIndexBytesMax;
      this.memoryBytesMax = options.memoryBytesMax;
      this.durability = options.durability;
      this.callDeadline = options.callDeadline;
      this.clock = options.clock;
      this.scales = options.scales;
      this.history = options.history;
    }
  }

  private static IllegalArgumentException outside(
      String option, Object value, Object min, Object max) {
    return new IllegalArgumentException(
        "%s is %s; it must be from %s to %s".formatted(option, text(value), text(min), text(max)));
  }

  private static Object text(Object value) {
    return value instanceof Duration time ? Limits.text(time) : value;
  }
}
