package dev.quipu.engine.commit;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.CounterTable;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The frame that is being filled with what a group of calls did. Not thread-safe. */
public final class Group {
  private final ByteBuffer out;
  private final int capacity;
  private int[] dirty = new int[64];
  private int dirtyCount;
  private int commands;
  private @Nullable QuipuException rejection;

  /** Fills a buffer, which takes one frame. */
  public Group(ByteBuffer out) {
    this.capacity = out.capacity();
    this.out = out;
  }

  /**
   * Starts an empty frame.
   *
   * @param why what to reject changes with; null to take them
   */
  public void begin(@Nullable QuipuException why) {
    out.clear().position(Frame.HEAD_BYTES);
    dirtyCount = 0;
    commands = 0;
    rejection = why;
  }

  /**
   * Makes sure that changes are taken at all.
   *
   * @throws QuipuException if there is no room on the disk
   */
  public void requireWritable() {
    if (rejection != null) {
      throw new NotAppliedException(rejection.reason(), rejection.getMessage());
    }
  }

  /** Returns for how many records of counters there is room in this frame. */
  int room() {
    int values = dirtyCount * Records.COUNTER_RECORD_BYTES_MAX;
    return (out.remaining() - Frame.ALIGNMENT - values) / Records.COUNTER_RECORD_BYTES_MAX;
  }

  /** Whether records of so many bytes fit into this frame; if not, end the frame and try again. */
  public boolean fits(int bytes) {
    int values = dirtyCount * Records.COUNTER_RECORD_BYTES_MAX;
    return out.remaining() - Frame.ALIGNMENT - values >= bytes;
  }

  /** Whether records of so many bytes fit into an empty frame. */
  public boolean canEverFit(int bytes) {
    return bytesMax() >= bytes;
  }

  /** Returns the most bytes of records that a frame holds. */
  public int bytesMax() {
    return capacity - Frame.HEAD_BYTES - Frame.ALIGNMENT;
  }

  /** Whether nothing changed. */
  public boolean isEmpty() {
    return commands == 0;
  }

  public int commands() {
    return commands;
  }

  public void name(int ordinal, String name) {
    Records.name(out, ordinal, name);
  }

  /** A counter now holds a text. */
  public void text(int ordinal, byte[] text) {
    commands++;
    Records.text(out, ordinal, text);
  }

  /** A counter expires at another time than before. */
  public void expires(int ordinal, long atMillis) {
    commands++;
    Records.expires(out, ordinal, atMillis);
  }

  /** A counter was removed. */
  public void gone(int ordinal) {
    commands++;
    Records.gone(out, ordinal);
  }

  /** A counter was removed, and its name and ordinal may be used again. */
  void free(int ordinal) {
    commands++;
    Records.free(out, ordinal);
  }

  /** A counter was changed without an id: its value goes into the frame once, at the end. */
  public void plain(CounterTable counters, int ordinal) {
    commands++;
    if (counters.markDirty(ordinal)) {
      if (dirtyCount == dirty.length) {
        dirty = Arrays.copyOf(dirty, dirty.length * 2);
      }
      dirty[dirtyCount++] = ordinal;
    }
  }

  public void once(int ordinal, long high, long low, long delta, long value, int boundsMark) {
    commands++;
    Records.once(out, ordinal, high, low, delta, value, boundsMark);
  }

  public void cancel(int ordinal, long high, long low) {
    commands++;
    Records.cancel(out, ordinal, high, low);
  }

  public void item(Item item) {
    commands++;
    Records.item(out, item);
  }

  public void noItem(Key key) {
    commands++;
    Records.noItem(out, key);
  }

  /** Completes the frame. */
  public ByteBuffer end(Frame frame, State state, long commandsBefore) {
    CounterTable counters = state.counters;
    for (int i = 0; i < dirtyCount; i++) {
      int ordinal = dirty[i];
      counters.unmarkDirty(ordinal);
      // What it is besides a number was written at once.
      if (counters.isWritten(ordinal) && counters.text(ordinal) == null) {
        Records.value(out, ordinal, counters.value(ordinal));
      }
    }
    dirtyCount = 0;
    frame.seal(out, commands, state.frame, commandsBefore, state.timeMillis);
    return out;
  }
}
