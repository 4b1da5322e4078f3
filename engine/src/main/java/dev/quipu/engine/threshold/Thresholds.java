package dev.quipu.engine.threshold;

import dev.quipu.Decimal;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.engine.log.Records;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Thresholds, and their crossings until these were delivered. Not thread-safe: only the committer
 * uses it, and before it the recovery.
 *
 * <pre>{@code
 * THRESHOLDS. Each change of a number is compared to the thresholds of its counter, which are
 * looked up by its name once, and then found by its ordinal. A crossing gets the next number, is
 * remembered, and is written to the frame of the change, since a replay could not find it: the log
 * has the value after a frame only. In the log are:
 *
 *   DEFINED    version, number, threshold   it is defined, or replaced
 *   REMOVED    version, number              it and its crossings are forgotten
 *   CROSSED    number, crossing             it was crossed
 *   DELIVERED  number, sequence             a crossing was delivered
 *   MISSED     number, count                crossings of it that were not recorded
 *
 * Versions and sequences are numbers of one series. A snapshot has DEFINED and MISSED of each
 * threshold, then LAST with the last number of the series, and later, in pieces, WAITING with each
 * crossing that waits. A replay on top of it skips numbers that the series had reached.
 * }</pre>
 */
public final class Thresholds {
  private static final byte DEFINED = 1;
  private static final byte REMOVED = 2;
  private static final byte CROSSED = 3;
  private static final byte DELIVERED = 4;
  private static final byte MISSED = 5;
  private static final byte LAST = 6;
  private static final byte WAITING = 7;

  private static final int RECORD_BYTES = 32;

  /** Heap of a threshold, in bytes: an estimate, rather too high than too low. */
  public static final int DEFINED_BYTES = 4_096;

  private final Map<String, Defined> byId = new TreeMap<>();
  private final Map<Long, Defined> byNumber = new HashMap<>();
  private MatchingIndex index = MatchingIndex.of(List.of());
  private final int waitingMax;
  private final RecordBuffer unlogged = new RecordBuffer();
  private final Set<Defined> missing = new LinkedHashSet<>(); // since the last frame
  private long last; // of the series
  private long run;
  private long definitions;
  private boolean isOn;
  private long wallMillis;
  private int waiting;
  private long waitingBytes;
  private long waitingBytesMax = Long.MAX_VALUE;
  private int frameBytesMax = Integer.MAX_VALUE;
  private long memoryBytes;

  public Thresholds() {
    this(CounterThresholds.WAITING_MAX);
  }

  Thresholds(int waitingMax) {
    this.waitingMax = waitingMax;
  }

  /**
   * Begins to look for crossings, after recovery.
   *
   * @param run a random number
   */
  public void begin(long run) {
    this.run = run;
    matchAgain();
  }

  private void matchAgain() {
    definitions++;
    isOn = run != 0 && !byId.isEmpty();
    index = MatchingIndex.of(byId.values());
  }

  /** Returns whether changes must be compared. */
  public boolean isOn() {
    return isOn;
  }

  /** Sets the time of crossings. */
  public void tick(long millis) {
    wallMillis = millis;
  }

  /** Returns the estimated heap, in bytes. */
  public long memoryBytes() {
    return memoryBytes + waitingBytes + index.memoryBytes();
  }

  /** Returns the thresholds of an ordinal; null if they must be looked up. */
  public @Nullable Matching known(int ordinal) {
    return index.known(ordinal);
  }

  /**
   * Looks up the thresholds of a counter.
   *
   * @param name null if it is not a counter
   */
  public Matching find(int ordinal, @Nullable String name) {
    return index.find(ordinal, name);
  }

  /** Records that an ordinal may get another name. */
  public void forgotten(int ordinal) {
    index.forget(ordinal);
  }

  /** Records that a change crosses thresholds. */
  public void cross(Matching matching, String counter, int scale, long before, long after) {
    for (Defined each : matching.crossed(scale, before, after)) {
      if (isFull(each) || unlogged.bytesMax() >= frameBytesMax) {
        each.missed++;
        missing.add(each);
        continue;
      }
      Decimal at = each.threshold.at();
      Crossed crossed = new Crossed(++last, run, at, counter, before, after, scale, wallMillis);
      keep(each, crossed);
      crossed.write(unlogged.begin(CROSSED, each.number, crossed.bytesMax()));
    }
  }

  /** Returns whether a threshold has its part of what may wait: one that is dead takes half. */
  private boolean isFull(Defined defined) {
    return waiting >= waitingMax
        || waitingBytes >= waitingBytesMax
        || defined.waiting.size() >= (waitingMax + 1) / 2
        || defined.waitingBytes >= waitingBytesMax / 2;
  }

  /** Bounds the heap of crossings that wait. */
  public void limitMemory(long bytesMax) {
    waitingBytesMax = bytesMax;
  }

  /** Bounds the bytes of crossings in one frame: a change of many counters may cross many. */
  public void limitFrame(int bytesMax) {
    frameBytesMax = bytesMax;
  }

  private void keep(Defined defined, Crossed crossed) {
    if (defined.waiting.putIfAbsent(crossed.sequence(), crossed) == null) {
      waiting++;
      waitingBytes += crossed.memoryBytes();
      defined.waitingBytes += crossed.memoryBytes();
    }
  }

  /** Returns a number that differs after each definition and removal. */
  public long definitions() {
    return definitions;
  }

  /** Defines or replaces a threshold; returns whether it is new. */
  public boolean put(Threshold threshold) {
    Defined known = byId.get(threshold.id());
    long version = ++last;
    Defined defined = define(known == null ? version : known.number, version, threshold);
    writeDefined(unlogged, defined);
    matchAgain();
    return known == null;
  }

  private Defined define(long number, long version, Threshold threshold) {
    Defined defined = byNumber.get(number);
    if (defined == null) {
      defined = new Defined(number, version, threshold);
      byNumber.put(number, defined);
      byId.put(threshold.id(), defined);
      memoryBytes += DEFINED_BYTES;
    }
    defined.threshold = threshold;
    defined.version = version;
    return defined;
  }

  /** Removes a threshold; returns whether it existed. */
  public boolean remove(String id) {
    Defined known = byId.get(id);
    if (known == null) {
      return false;
    }
    forget(known);
    unlogged.add(REMOVED, ++last, known.number);
    matchAgain();
    return true;
  }

  private void forget(Defined defined) {
    byId.remove(defined.threshold.id());
    byNumber.remove(defined.number);
    memoryBytes -= DEFINED_BYTES;
    waiting -= defined.waiting.size();
    waitingBytes -= defined.waitingBytes;
  }

  /** Returns a threshold. */
  public Optional<CounterThresholds.Status> get(String id) {
    return Optional.ofNullable(byId.get(id)).map(Defined::status);
  }

  /** Returns all thresholds, by id. */
  public List<CounterThresholds.Status> list() {
    return byId.values().stream().map(Defined::status).toList();
  }

  /** Returns crossings of a threshold with numbers after one. */
  public List<Crossed> waiting(String id, long after, int max) {
    Defined known = byId.get(id);
    return known == null
        ? List.of()
        : known.waiting.tailMap(after, false).values().stream().limit(max).toList();
  }

  /** Forgets crossings of a threshold; returns whether there were any. */
  public boolean delivered(String id, List<Long> sequences) {
    Defined known = byId.get(id);
    boolean isChanged = false;
    if (known != null) {
      for (Long each : sequences) {
        if (drop(known, each)) {
          isChanged = true;
          unlogged.add(DELIVERED, known.number, each);
        }
      }
    }
    return isChanged;
  }

  private boolean drop(Defined defined, long sequence) {
    Crossed crossed = defined.waiting.remove(sequence);
    if (crossed != null) {
      waiting--;
      waitingBytes -= crossed.memoryBytes();
      defined.waitingBytes -= crossed.memoryBytes();
    }
    return crossed != null;
  }

  /** Returns an upper bound of the bytes of log of the delivery of crossings. */
  public static int deliveredBytesMax(int crossings) {
    return crossings * RECORD_BYTES;
  }

  /** Returns an upper bound of the bytes of log of a definition. */
  public static int definedBytesMax(Threshold threshold) {
    int texts =
        threshold.id().length()
            + threshold.selector().length()
            + threshold.webhook().toString().length();
    return 2 * RECORD_BYTES + 3 * texts;
  }

  private static void writeDefined(RecordBuffer records, Defined defined) {
    Threshold threshold = defined.threshold;
    ByteBuffer out = records.begin(DEFINED, defined.version, definedBytesMax(threshold));
    Records.unsigned(out, defined.number);
    Records.text(out, threshold.id());
    out.put((byte) (threshold.isPrefix() ? 1 : 0));
    Records.text(out, threshold.selector());
    Records.signed(out, threshold.at().units());
    out.put((byte) threshold.at().scale());
    out.put((byte) (threshold.direction() == Direction.UP ? 1 : 0));
    Records.text(out, threshold.webhook().toString());
  }

  private static Threshold readThreshold(ByteBuffer in) {
    return new Threshold(
        Records.text(in),
        in.get() == 1,
        Records.text(in),
        new Decimal(Records.signed(in), in.get()),
        in.get() == 1 ? Direction.UP : Direction.DOWN,
        URI.create(Records.text(in)));
  }

  /** Returns the most bytes that {@link #log} will write. */
  public int unloggedBytes() {
    return unlogged.bytesMax() + missing.size() * RECORD_BYTES;
  }

  /** Writes what changed to a frame. */
  public void log(ByteBuffer out) {
    missing.forEach(each -> unlogged.add(MISSED, each.number, each.missed));
    missing.clear();
    unlogged.moveTo(out);
  }

  /** Returns all thresholds as part of a snapshot; empty if there never was one. */
  public ByteBuffer image() {
    RecordBuffer records = new RecordBuffer();
    byId.values().stream()
        .sorted(Comparator.comparingLong(each -> each.version))
        .forEach(each -> {
          writeDefined(records, each);
          if (each.missed > 0) {
            records.add(MISSED, each.number, each.missed);
          }
        });
    if (last > 0) {
      records.begin(LAST, last, 0);
    }
    return copy(records);
  }

  private static ByteBuffer copy(RecordBuffer records) {
    ByteBuffer out = ByteBuffer.allocate(records.bytesMax());
    records.moveTo(out);
    return out.flip();
  }

  /** Where a snapshot of crossings is. */
  public record Place(long threshold, long sequence) {
    public static final Place START = new Place(0, 0);
  }

  /**
   * A part of a snapshot.
   *
   * @param next where the next part begins; null after the last
   */
  public record Part(ByteBuffer image, @Nullable Place next) {}

  /** Returns up to a number of crossings after a place as part of a snapshot. */
  public Part waitingAfter(Place after, int max) {
    RecordBuffer records = new RecordBuffer();
    List<Defined> all = new ArrayList<>(byNumber.values());
    all.removeIf(each -> each.number < after.threshold);
    all.sort(Comparator.comparingLong(each -> each.number));
    Place place = after;
    int count = 0;
    for (Defined each : all) {
      long from = each.number == after.threshold ? after.sequence : 0;
      for (Crossed crossed : each.waiting.tailMap(from, false).values()) {
        if (count++ == max) {
          return new Part(copy(records), place);
        }
        crossed.write(records.begin(WAITING, each.number, crossed.bytesMax()));
        place = new Place(each.number, crossed.sequence());
      }
    }
    return new Part(copy(records), null);
  }

  /** Applies a record of the log or of a snapshot. */
  public void replay(ByteBuffer in) {
    while (in.hasRemaining()) {
      byte kind = in.get();
      long number = Records.unsigned(in);
      switch (kind) {
        case DEFINED -> {
          long identity = Records.unsigned(in);
          Threshold threshold = readThreshold(in);
          if (isNext(number)) {
            var unused = define(identity, number, threshold);
          }
        }
        case REMOVED -> {
          Defined known = byNumber.get(Records.unsigned(in));
          if (isNext(number) && known != null) {
            forget(known);
          }
        }
        case CROSSED -> {
          Crossed crossed = Crossed.read(in);
          Defined known = byNumber.get(number);
          if (isNext(crossed.sequence()) && known != null) {
            keep(known, crossed);
          }
        }
        case WAITING -> {
          Crossed crossed = Crossed.read(in);
          Defined known = byNumber.get(number);
          if (known != null) {
            keep(known, crossed);
          }
        }
        case DELIVERED -> {
          long sequence = Records.unsigned(in);
          Defined known = byNumber.get(number);
          if (known != null) {
            var unused = drop(known, sequence);
          }
        }
        case MISSED -> {
          long count = Records.unsigned(in);
          Defined known = byNumber.get(number);
          if (known != null) {
            known.missed = Math.max(known.missed, count);
          }
        }
        case LAST -> last = Math.max(last, number);
        default -> throw new IllegalStateException("unknown kind of threshold record " + kind);
      }
    }
  }

  private boolean isNext(long number) {
    boolean isNext = number > last;
    last = Math.max(last, number);
    return isNext;
  }
}
