package dev.quipu.engine.past;

import dev.quipu.engine.history.HistoryRules;
import dev.quipu.engine.history.HistoryStep;
import dev.quipu.engine.log.Records;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Records the value of each counter before its first change after a boundary. Not thread-safe: only
 * the committer uses it, and before it the recovery.
 *
 * <pre>{@code
 * HISTORY. A boundary is between two frames of the log: the first frame that begins at or after its
 * time comes after it. From one boundary to the next is a bucket. The value of a counter at a
 * boundary is the value before its first change afterwards, and its present value if there was
 * none. So only counters that change cost anything: a bit is read for each change, and once in a
 * bucket the name and the value before are written to memory, and to the frame of the change.
 *
 * The log has these entries, since a replay cannot know them: it begins with a snapshot whose
 * values may be newer than the first frames. At the end of a bucket, and when a snapshot begins,
 * the entries are cut off and written to a file (see HistoryFiles). A snapshot ends only when the
 * entries of all frames before it are in files. A replay skips entries that files have.
 * }</pre>
 */
public final class Recorder {
  /** The scale of a counter that does not exist. */
  public static final int ABSENT = Before.ABSENT;

  private HistoryRules rules = HistoryRules.none();
  private @Nullable SortedMap<HistoryStep, Duration> steps;
  private boolean isOn;
  private final BitSet marked = new BitSet(); // ordinals that need no entry now
  private final BitSet excluded = new BitSet(); // those that no rule matches
  private Entries entries = new Entries();
  private final Deque<Cut> waiting = new ArrayDeque<>();
  private int unloggedBytes; // of the frame that is being filled
  private long start; // of the bucket
  private long end = Long.MIN_VALUE;
  private long loggedStart = Long.MIN_VALUE; // the bucket that the log has stated
  private long durableFrame; // during recovery: entries up to this one are in files

  /** Sets the frame up to which files have all entries, before the log is read. */
  public void inFilesUpTo(long frame) {
    durableFrame = frame;
  }

  /** Begins to record, after recovery. */
  public void begin(HistoryRules all) {
    rules = all;
    isOn = !all.isEmpty();
    steps = all.steps();
    if (!isOn) {
      discard();
    }
    marked.clear(); // an earlier entry of the same counter counts
    entries.takeNew(each -> {}); // the log has them
    loggedStart = Long.MIN_VALUE;
  }

  /** Returns whether the bucket began after a time. */
  boolean isAfter(long millis) {
    return start > millis;
  }

  /** Forgets all entries. */
  void discard() {
    entries = new Entries();
    waiting.clear();
    start = Long.MIN_VALUE;
    end = Long.MIN_VALUE;
  }

  /** Returns whether a change of a counter must be announced by {@link #first}. */
  public boolean isNew(int ordinal) {
    return isOn && !marked.get(ordinal);
  }

  /**
   * Records a counter that is about to change.
   *
   * @param name its name; null if it is not a counter
   * @param scale its scale if it exists, otherwise {@link #ABSENT}
   */
  public void first(int ordinal, @Nullable String name, int scale, long value) {
    marked.set(ordinal);
    if (name == null || rules.patternOf(name).isEmpty()) {
      excluded.set(ordinal);
      return;
    }
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    unloggedBytes += 1 + entries.add(bytes, scale, value);
  }

  /** Records that an ordinal may get another name. */
  public void forgotten(int ordinal) {
    marked.clear(ordinal);
    excluded.clear(ordinal);
  }

  /** Ends the bucket if its time is over. */
  public void tick(long wallMillis, long lastFrame) {
    if (isOn && wallMillis >= end) {
      cut(lastFrame);
      start = Long.MIN_VALUE;
      end = Long.MAX_VALUE;
      for (HistoryStep each : Objects.requireNonNull(steps).keySet()) {
        start = Math.max(start, each.floor(wallMillis));
        end = Math.min(end, each.next(wallMillis));
      }
    }
  }

  /** Cuts off the entries of the bucket so far, between two frames. */
  public void cut(long lastFrame) {
    if (!entries.isEmpty()) {
      waiting.add(new Cut(start, end, lastFrame, entries.view()));
      entries = new Entries();
    }
    marked.clear();
    marked.or(excluded);
    loggedStart = Long.MIN_VALUE; // the log may be read from here
  }

  /** Returns the most bytes that {@link #log} will write. */
  public int unloggedBytes() {
    return unloggedBytes == 0 ? 0 : unloggedBytes + 32;
  }

  /** Writes the new entries to a frame. */
  public void log(ByteBuffer out) {
    if (unloggedBytes == 0) {
      return;
    }
    if (loggedStart != start) {
      Records.bucket(out, start, end);
      loggedStart = start;
    }
    entries.takeNew(each -> {
      Records.before(out);
      Entries.write(out, each.name(), each.scale(), each.value());
    });
    unloggedBytes = 0;
  }

  /** Applies a record of the log. */
  public void replayBucket(long startMillis, long endMillis, long frame) {
    if (startMillis != start || endMillis != end) {
      cut(frame - 1);
      start = startMillis;
      end = endMillis;
    }
  }

  /** Applies a record of the log. */
  public void replayBefore(ByteBuffer in, long frame) {
    Before entry = Entries.read(in);
    if (frame > durableFrame) {
      int unused = entries.add(entry.name(), entry.scale(), entry.value());
    }
  }

  /** What has not been written to files, at one moment. */
  public static final class Recent {
    private final long start;
    private final Entries.View entries;
    private final List<Cut> waiting;

    private Recent(long start, Entries.View entries, List<Cut> waiting) {
      this.start = start;
      this.entries = entries;
      this.waiting = waiting;
    }

    /** Returns the start of the bucket. */
    long start() {
      return start;
    }

    Entries.View entries() {
      return entries;
    }

    List<Cut> waiting() {
      return waiting;
    }
  }

  /** Returns what has not been written to files now. */
  public Recent recent() {
    return new Recent(start, entries.view(), List.copyOf(waiting));
  }

  /** Returns the oldest entries that were cut off and are not in a file. */
  Optional<Cut> nextWaiting() {
    return Optional.ofNullable(waiting.peekFirst());
  }

  /** Removes entries that are now in a file. */
  void written(Cut cut) {
    waiting.remove(cut);
  }
}
