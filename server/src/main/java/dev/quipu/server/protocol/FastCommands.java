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
 * Nearly all commands add to an existing counter, or read one. A decoder recognizes these in the
 * bytes as they came, and no word of them becomes an object: a command holds the offsets of its
 * name, and is reused when its batch was answered. Everything else takes the general path, whose
 * replies are the same.
 *
 * What came is copied into an array once, for the JVM reads arrays faster than buffers.
 */

/** Allocation-free decoding of the most frequent commands of a connection. Lives on its loop. */
public final class FastCommands {
  /** Longest name, in bytes, that is taken. */
  public static final int NAME_BYTES_MAX = 127;

  /** Most bytes that are looked at for one batch; what lies behind takes the general path. */
  private static final int WINDOW_BYTES_MAX = 64 << 10;

  /** Longest window that is kept after its batch. */
  private static final int WINDOW_BYTES_KEPT = 8 << 10;

  private static final int COMMAND_BYTES = 80;
  private static final byte[] NO_WINDOW = {};

  private final Dialect dialect;
  private final ArrayList<FastCommand> commands = new ArrayList<>();
  private byte[] window = NO_WINDOW;
  private int windowStart; // where it begins in the buffer
  private int windowEnd; // in the window
  private int used;
  private int mark;
  private @Nullable Batch filling;
  private ByteBuf in = Unpooled.EMPTY_BUFFER; // that the window was copied from

  /** How a protocol answers. */
  public interface Dialect {
    /** Whether a counter of this value may be added to; to add 0 is to read. */
    boolean mayAdd(long value, long delta);

    /** Writes the answer to an add. */
    void added(ByteBuf out, long value, long delta, boolean isOnce);

    /** Writes the answer to a read, of a counter whose name is in these bytes. */
    void read(ByteBuf out, byte[] bytes, int from, int length, long value);

    /** Returns the same command, decoded by the general path. */
    PendingCommand generalPath(FastCommand fast);
  }

  /** One of the commands. */
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
    private int mark;

    /** What the dialect had set when it came. */
    public int mark() {
      return mark;
    }

    /** Whether it reads, and does not add. */
    public boolean isRead() {
      return isRead;
    }

    /** What it adds. */
    public long delta() {
      return delta;
    }

    /** The name, in bytes. */
    public byte[] name() {
      return Arrays.copyOfRange(window, from, from + length);
    }

    /** The request id, in bytes; empty for none. */
    public byte[] id() {
      return Arrays.copyOfRange(window, idFrom, idFrom + idLength);
    }

    @Override
    public int bytesMax(CounterAccess turn) {
      return isRead ? 0 : CounterAccess.bytesMax(1, length);
    }

    @Override
    public void touch(CounterAccess turn) {
      place = turn.placeOf(window, from, length);
      if (isOnce && place >= 0) {
        turn.touch(place, high, low);
      }
    }

    @Override
    public void run(CounterAccess turn, ByteBuf out) {
      int at = out.writerIndex();
      long changes = turn.changeCount();
      try {
        // A command before this one may have removed what was there when it was touched.
        if (place < 0 || !turn.isNumberAt(place)) {
          dialect.generalPath(this).run(turn, out);
        } else if (isRead && dialect.mayAdd(turn.valueAt(place), 0)) {
          dialect.read(out, window, from, length, turn.valueAt(place));
        } else if (!isRead && dialect.mayAdd(turn.valueAt(place), delta) && isAdded(turn)) {
          dialect.added(out, turn.valueAt(place), delta, isOnce);
        } else {
          dialect.generalPath(this).run(turn, out);
        }
      } catch (RuntimeException e) {
        PendingCommand.requireWhole(turn, changes, e);
        out.writerIndex(at);
        failed(e, out);
      }
    }

    private boolean isAdded(CounterAccess turn) {
      return isOnce ? turn.addOnceAt(place, delta, high, low) : turn.addAt(place, delta);
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      dialect.generalPath(this).failed(why, out);
    }
  }

  /** In a dialect. */
  public FastCommands(Dialect dialect) {
    this.dialect = dialect;
  }

  /**
   * Makes ready to look at what is next in a buffer, which does not change while a batch is filled.
   *
   * @return where it begins in {@link #window}
   */
  public int look(ByteBuf next, Batch batch) {
    in = next;
    if (batch != filling) {
      filling = batch;
      used = 0;
      windowStart = in.readerIndex();
      windowEnd = Math.min(in.readableBytes(), WINDOW_BYTES_MAX);
      if (window.length < windowEnd) {
        window = new byte[Math.max(windowEnd, 2 * window.length)];
      }
      in.getBytes(windowStart, window, 0, windowEnd);
    }
    return in.readerIndex() - windowStart;
  }

  /** The batch was answered: none of its commands is used from now on. */
  public void answered() {
    filling = null; // with all its answers
    in = Unpooled.EMPTY_BUFFER;
    if (window.length > WINDOW_BYTES_KEPT) {
      window = NO_WINDOW;
    }
  }

  /** Releases all commands. */
  public void trim() {
    answered();
    window = NO_WINDOW;
    commands.clear();
    commands.trimToSize();
    used = 0;
  }

  /** Returns the bytes that are kept for the next batch. */
  public int heldBytes() {
    return window.length + COMMAND_BYTES * commands.size();
  }

  /** The bytes that {@link #look} speaks of. */
  public byte[] window() {
    return window;
  }

  /** Where they end. */
  public int end() {
    return windowEnd;
  }

  /** Adds a read to the batch, which ends at {@code end} in the window. */
  public void read(int from, int length, int end) {
    FastCommand command = next();
    command.isRead = true;
    command.isOnce = false;
    take(command, from, length, end);
  }

  /** Adds an add to the batch. */
  public void add(int from, int length, long delta, int end) {
    FastCommand command = next();
    command.isRead = false;
    command.isOnce = false;
    command.delta = delta;
    command.idLength = 0;
    take(command, from, length, end);
  }

  /** Adds one under a request id to the batch; whether that is an id that can be taken so. */
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

  /** Sets what the commands from now on remember for the dialect. */
  public void mark(int what) {
    mark = what;
  }

  private void take(FastCommand command, int from, int length, int end) {
    command.from = from;
    command.length = length;
    command.mark = mark;
    Objects.requireNonNull(filling).add(command);
    in.readerIndex(windowStart + end);
  }

  private FastCommand next() {
    if (used == commands.size()) {
      commands.add(new FastCommand());
    }
    return commands.get(used++);
  }

  /** A number of digits alone, without zeros ahead, above 0; 0 for anything else. */
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
