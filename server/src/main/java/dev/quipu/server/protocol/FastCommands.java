package dev.quipu.server.protocol;

import dev.quipu.RequestId;
import dev.quipu.engine.CounterAccess;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/*
 * Nearly all commands add to an existing counter or read one. A decoder recognizes these in the raw
 * bytes without allocating: a command holds the offsets of its name and is reused after its batch
 * was answered. Everything else takes the general path, which gives the same replies.
 *
 * The input is copied into an array once, since the JVM reads arrays faster than buffers.
 */

/** Decodes the most frequent commands without allocation. Confined to its event loop. */
public final class FastCommands {
  /** Maximum length of a name on the fast path, in bytes. */
  public static final int NAME_BYTES_MAX = 127;

  /** Maximum window of one batch, in bytes; the rest takes the general path. */
  private static final int WINDOW_BYTES_MAX = 64 << 10;

  /** Size of a window that needs no reservation. */
  private static final int WINDOW_BYTES_FREE = Batch.COMMAND_BYTES_FREE;

  /** Larger windows are released after their batch. */
  private static final int WINDOW_BYTES_KEPT = 8 << 10;

  private static final int COMMAND_BYTES = 80;
  private static final byte[] NONE = {};

  private final Dialect dialect;
  private final ArrayList<FastCommand> commands = new ArrayList<>();
  private byte[] window = NONE;
  private int windowStart; // offset in the buffer
  private int windowEnd; // in the window
  private int used;
  private int mark;
  private @Nullable Batch filling;
  private ByteBuf in = Unpooled.EMPTY_BUFFER; // source of the window

  /** The protocol-specific part. */
  public interface Dialect {
    /** Returns whether delta may be added to a counter with this value; a delta of 0 is a read. */
    boolean mayAdd(long value, long delta);

    /** Writes the reply to an add. */
    void added(ByteBuf out, long value, long delta, boolean isOnce);

    /** Writes the reply to a read of the counter whose name is in these bytes. */
    void read(ByteBuf out, byte[] bytes, int from, int length, long value);

    /** Returns the same command, decoded by the general path. */
    PendingCommand generalPath(FastCommand fast);
  }

  /** A reusable command. */
  public final class FastCommand implements PendingCommand {
    private boolean isRead;
    private boolean isOnce;
    private long delta;
    private int from;
    private int length;
    private int idFrom;
    private int idLength;
    private long high;
    private long low;
    private int place;
    private int expected = -1; // its number among those that are looked up together
    private int mark;

    /** Returns the mark that was set when the command was decoded. */
    public int mark() {
      return mark;
    }

    /** Returns whether this is a read. */
    public boolean isRead() {
      return isRead;
    }

    /** Returns the delta of an add. */
    public long delta() {
      return delta;
    }

    /** Returns the name in UTF-8. */
    public byte[] name() {
      return Arrays.copyOfRange(window, from, from + length);
    }

    /** Returns the request id in UTF-8; empty if there is none. */
    public byte[] id() {
      // Without an id these are the places of an earlier one, perhaps after the end of the window.
      return isOnce ? Arrays.copyOfRange(window, idFrom, idFrom + idLength) : NONE;
    }

    @Override
    public int bytesMax(CounterAccess counters) {
      return isRead ? 0 : CounterAccess.bytesMax(1, length);
    }

    @Override
    public void expect(CounterAccess counters) {
      expected = counters.expect(window, from, length);
    }

    @Override
    public void touch(CounterAccess counters) {
      place =
          expected < 0
              ? counters.placeOf(window, from, length)
              : counters.placeOfExpected(expected);
      expected = -1;
      if (isOnce && place >= 0) {
        counters.expectId(place, high, low);
      }
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      int at = out.writerIndex();
      long changes = counters.changeCount();
      try {
        // An earlier command may have removed the counter after the lookup.
        if (place < 0 || !counters.isIntegerAt(place)) {
          dialect.generalPath(this).run(counters, out);
        } else if (isRead && dialect.mayAdd(counters.valueAt(place), 0)) {
          dialect.read(out, window, from, length, counters.valueAt(place));
        } else if (!isRead && dialect.mayAdd(counters.valueAt(place), delta) && isAdded(counters)) {
          dialect.added(out, counters.valueAt(place), delta, isOnce);
        } else {
          dialect.generalPath(this).run(counters, out);
        }
      } catch (RuntimeException e) {
        PendingCommand.requireWhole(counters, changes, e);
        out.writerIndex(at);
        failed(e, out);
      }
    }

    private boolean isAdded(CounterAccess counters) {
      return isOnce ? counters.addOnceAt(place, delta, high, low) : counters.addAt(place, delta);
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      dialect.generalPath(this).failed(why, out);
    }
  }

  /** Creates the commands of one connection. */
  public FastCommands(Dialect dialect) {
    this.dialect = dialect;
  }

  /**
   * Prepares the window of a batch. The buffer must not change while the batch is filled.
   *
   * @return the read position in {@link #window}
   */
  public int look(ByteBuf next, Batch batch) {
    in = next;
    if (batch != filling) {
      filling = batch;
      used = 0;
      windowStart = in.readerIndex();
      windowEnd = Math.min(in.readableBytes(), WINDOW_BYTES_MAX);
      if (windowEnd > WINDOW_BYTES_FREE && !batch.tryHold(windowEnd)) {
        windowEnd = WINDOW_BYTES_FREE;
      }
      if (window.length < windowEnd) {
        window = new byte[Math.max(windowEnd, 2 * window.length)];
      }
      in.getBytes(windowStart, window, 0, windowEnd);
    }
    return in.readerIndex() - windowStart;
  }

  /** Notes that the batch was answered: its commands may be reused. */
  public void answered() {
    filling = null; // releases its replies
    in = Unpooled.EMPTY_BUFFER;
    if (window.length > WINDOW_BYTES_KEPT) {
      window = NONE;
    }
  }

  /** Releases everything that is kept for reuse. */
  public void trim() {
    answered();
    window = NONE;
    commands.clear();
    commands.trimToSize();
    used = 0;
  }

  /** Returns the memory kept for the next batch, in bytes. */
  public int heldBytes() {
    int kept = window.length > WINDOW_BYTES_KEPT ? 0 : window.length; // the batch reserves others
    return kept + COMMAND_BYTES * commands.size();
  }

  /** Returns the input that {@link #look} has copied. */
  public byte[] window() {
    return window;
  }

  /** Returns the end of the input in the window. */
  public int end() {
    return windowEnd;
  }

  /** Adds a read that ends at {@code end} in the window to the batch. */
  public void read(int from, int length, int end) {
    FastCommand command = next();
    command.isRead = true;
    command.isOnce = false;
    take(command, from, length, end);
  }

  /** Adds an increment to the batch. */
  public void add(int from, int length, long delta, int end) {
    FastCommand command = next();
    command.isRead = false;
    command.isOnce = false;
    command.delta = delta;
    take(command, from, length, end);
  }

  /**
   * Adds an increment with a request id to the batch; returns whether the id fits the fast path.
   */
  public boolean addOnce(int from, int length, long delta, int idFrom, int idLength, int end) {
    RequestId id = RequestId.ofAscii(window, idFrom, idLength);
    if (id == null) {
      return false;
    }
    FastCommand command = next();
    command.isRead = false;
    command.isOnce = true;
    command.delta = delta;
    command.idFrom = idFrom;
    command.idLength = idLength;
    command.high = id.high();
    command.low = id.low();
    take(command, from, length, end);
    return true;
  }

  /** Sets the mark of the following commands, for use by the dialect. */
  public void mark(int what) {
    mark = what;
  }

  private void take(FastCommand command, int from, int length, int end) {
    command.from = from;
    command.length = length;
    command.mark = mark;
    command.expected = -1;
    Objects.requireNonNull(filling).add(command);
    in.readerIndex(windowStart + end);
  }

  private FastCommand next() {
    if (used == commands.size()) {
      commands.add(new FastCommand());
    }
    return commands.get(used++);
  }

  /** Parses a positive decimal number without leading zeros; returns 0 for anything else. */
  public long number(int at, int digits) {
    long value = 0;
    for (int i = at; i < at + digits; i++) {
      int digit = window[i] - '0';
      if (digit < 0 || digit > 9 || (i == at && digit == 0)) {
        return 0;
      }
      value = 10 * value + digit;
    }
    return value;
  }
}
