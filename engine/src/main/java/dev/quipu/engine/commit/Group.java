package dev.quipu.engine.commit;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.state.CounterTable;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The frame that is being filled with the changes of a group of calls. Not thread-safe. */
public final class Group {
  private final ByteBuffer own;
  private final int capacity;
  private final Followers followers;
  private ByteBuffer out;
  private int[] dirty = new int[64];
  private int dirtyCount;
  private int commands;
  private @Nullable QuipuException rejection;

  /**
   * Creates a group over a buffer that holds one frame.
   *
   * @param followers whose records are added at the end; the frame may become larger by them
   */
  public Group(ByteBuffer out, Followers followers) {
    this.capacity = out.capacity();
    this.own = out;
    this.out = out;
    this.followers = followers;
  }

  /**
   * Starts an empty frame.
   *
   * @param why exception that rejects changes; null to accept them
   */
  public void begin(@Nullable QuipuException why) {
    out = own;
    out.clear().position(Frame.HEAD_BYTES);
    dirtyCount = 0;
    commands = 0;
    rejection = why;
  }

  /**
   * Ensures that changes are accepted.
   *
   * @throws QuipuException if the disk is full
   */
  public void requireWritable() {
    if (rejection != null) {
      throw new NotAppliedException(rejection.reason(), rejection.getMessage());
    }
  }

  /** Returns the number of counter records that still fit into this frame. */
  int room() {
    return Math.max(0, remaining()) / Records.COUNTER_RECORD_BYTES_MAX;
  }

  /**
   * Returns whether records of this size fit into this frame; if not, end the frame and try again.
   */
  public boolean fits(int bytes) {
    return remaining() >= bytes;
  }

  /** Returns the bytes that are left when all that is known is written. */
  private int remaining() {
    int values = dirtyCount * Records.COUNTER_RECORD_BYTES_MAX;
    return out.remaining() - Frame.ALIGNMENT - values - followers.unloggedBytes();
  }

  /** Returns whether records of this size fit into an empty frame. */
  public boolean canEverFit(int bytes) {
    return bytesMax() >= bytes;
  }

  /** Returns the maximum bytes of records in a frame. */
  public int bytesMax() {
    return capacity - Frame.HEAD_BYTES - Frame.ALIGNMENT;
  }

  /** Returns whether nothing changed. */
  public boolean isEmpty() {
    return commands == 0;
  }

  public int commands() {
    return commands;
  }

  public void name(int ordinal, String name) {
    Records.name(out, ordinal, name);
  }

  /** Records the scale of a counter; another change follows, which counts as the command. */
  public void scale(int ordinal, int scale) {
    Records.scale(out, ordinal, scale);
  }

  /** Records that a counter now holds a text. */
  public void text(int ordinal, byte[] text) {
    commands++;
    Records.text(out, ordinal, text);
  }

  /** Records a changed expiry of a counter. */
  public void expires(int ordinal, long atMillis) {
    commands++;
    Records.expires(out, ordinal, atMillis);
  }

  /** Records that a counter was removed. */
  public void gone(int ordinal) {
    commands++;
    Records.gone(out, ordinal);
  }

  /** Records that a counter was removed, and that its name and ordinal may be reused. */
  void free(int ordinal) {
    commands++;
    Records.free(out, ordinal);
  }

  /** Records a change without an id: the value is written once, at the end of the frame. */
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

  /** Records a transaction, or the end of a hold; the values of its counters are apart. */
  public void transaction(TransactionRecord transaction) {
    commands++;
    Records.transaction(out, transaction);
  }

  /** Records an open hold; the values of its counters are apart. */
  public void hold(HoldRecord hold) {
    commands++;
    Records.hold(out, hold);
  }

  /** Records a change of thresholds, which is written at the end of the frame. */
  public void thresholds() {
    commands++;
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
      // Everything besides the number was written immediately.
      if (counters.isWritten(ordinal) && counters.text(ordinal) == null) {
        Records.value(out, ordinal, counters.value(ordinal));
      }
    }
    dirtyCount = 0;
    int needed = followers.unloggedBytes() + Frame.ALIGNMENT;
    if (out.remaining() < needed) { // rare: records of many counters with long names
      out = ByteBuffer.allocateDirect(out.position() + needed).put(out.flip());
    }
    followers.log(out);
    frame.seal(out, commands, state.frame, commandsBefore, state.timeMillis);
    return out;
  }
}
