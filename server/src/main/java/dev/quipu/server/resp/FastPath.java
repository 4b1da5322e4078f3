package dev.quipu.server.resp;

import dev.quipu.server.protocol.Batch;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.protocol.Digits;
import dev.quipu.server.protocol.FastCommands;
import dev.quipu.server.protocol.PendingCommand;
import dev.quipu.server.resp.command.CounterCall;
import dev.quipu.server.resp.command.CounterCommands;
import dev.quipu.server.resp.key.NamedCommand;
import dev.quipu.server.resp.key.RespPendingCommand;
import dev.quipu.server.resp.wire.RespParser;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Decodes INCR, DECR, INCRBY, DECRBY, GET and QUIPU.ADD without bounds, in the form that clients
 * send. Confined to the event loop of the connection.
 */
final class FastPath implements FastCommands.Dialect {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final long TWO_WORDS_OF_4 = 0x2a320d0a24340d0aL; // *2 $4, each with CRLF
  private static final long TWO_WORDS_OF_3 = 0x2a320d0a24330d0aL;
  private static final long THREE_WORDS_OF_6 = 0x2a330d0a24360d0aL;
  private static final long FIVE_WORDS_OF_9 = 0x2a350d0a24390d0aL;
  private static final long QUIPU_AD = 0x51554950552e4144L; // the dot has no case
  private static final long UPPER_QUIPU_AD = 0xdfdfdfdfdfffdfdfL;
  private static final int ID_WORD = 0x24320d0a; // $2
  private static final int INCR = 0x494e4352;
  private static final int DECR = 0x44454352;
  private static final int UPPER = 0xdfdfdfdf;
  private static final int DIGITS_MAX = 17; // cannot overflow
  private static final int BYTES_MIN = 20; // of a command

  private final FastCommands commands = new FastCommands(this);
  private final ConnectionMemory memory;
  private int at; // read position

  FastPath(ConnectionMemory memory) {
    this.memory = memory;
  }

  /** Returns the reusable commands. */
  FastCommands commands() {
    return commands;
  }

  /** Decodes a command if it is supported and complete. */
  boolean take(ByteBuf in, Batch batch, int spoken) {
    int first = commands.look(in, batch);
    byte[] bytes = commands.window();
    if (commands.end() - first < BYTES_MIN) {
      return false;
    }
    commands.mark(spoken);
    long head = (long) LONG.get(bytes, first);
    at = first + 8;
    if (head == TWO_WORDS_OF_4 || head == THREE_WORDS_OF_6) {
      return takeAdd(bytes, head == THREE_WORDS_OF_6);
    }
    if (head == TWO_WORDS_OF_3) {
      return takeGet(bytes);
    }
    return head == FIVE_WORDS_OF_9 && takeAddOnce(bytes);
  }

  private boolean takeAdd(byte[] bytes, boolean hasNumber) {
    int verb = (int) INT.get(bytes, at) & UPPER;
    int sign = verb == INCR ? 1 : verb == DECR ? -1 : 0;
    at += 4;
    if (hasNumber) {
      if ((bytes[at] & 0xdf) != 'B' || (bytes[at + 1] & 0xdf) != 'Y') {
        return false;
      }
      at += 2;
    }
    if (sign == 0 || !isLineEnd(bytes)) {
      return false;
    }
    int length = word(bytes, FastCommands.NAME_BYTES_MAX);
    if (length < 1) {
      return false;
    }
    int from = at - length - 2;
    long delta = hasNumber ? sign * number(bytes) : sign;
    if (delta == 0) {
      return false; // or a malformed number
    }
    commands.add(from, length, delta, at);
    return true;
  }

  private boolean takeGet(byte[] bytes) {
    if ((bytes[at] & 0xdf) != 'G'
        || (bytes[at + 1] & 0xdf) != 'E'
        || (bytes[at + 2] & 0xdf) != 'T') {
      return false;
    }
    at += 3;
    if (!isLineEnd(bytes)) {
      return false;
    }
    int length = word(bytes, FastCommands.NAME_BYTES_MAX);
    if (length < 1) {
      return false;
    }
    commands.read(at - length - 2, length, at);
    return true;
  }

  private boolean takeAddOnce(byte[] bytes) {
    boolean isVerb =
        ((long) LONG.get(bytes, at) & UPPER_QUIPU_AD) == QUIPU_AD && (bytes[at + 8] & 0xdf) == 'D';
    at += 9;
    if (!isVerb || !isLineEnd(bytes)) {
      return false;
    }
    int length = word(bytes, FastCommands.NAME_BYTES_MAX);
    if (length < 1) {
      return false;
    }
    int from = at - length - 2;
    long delta = number(bytes);
    if (delta == 0 || at + 8 > commands.end() || (int) INT.get(bytes, at) != ID_WORD) {
      return false;
    }
    boolean isId = (bytes[at + 4] & 0xdf) == 'I' && (bytes[at + 5] & 0xdf) == 'D';
    at += 6;
    if (!isId || !isLineEnd(bytes)) {
      return false;
    }
    int idLength = word(bytes, FastCommands.NAME_BYTES_MAX);
    return idLength > 0 && commands.addOnce(from, length, delta, at - idLength - 2, idLength, at);
  }

  /** Skips a line end; returns whether it was one. */
  private boolean isLineEnd(byte[] bytes) {
    boolean isEnd = at + 2 <= commands.end() && bytes[at] == '\r' && bytes[at + 1] == '\n';
    at += 2;
    return isEnd;
  }

  /** Skips a bulk string; returns its length, or -1 if it is incomplete or not plain. */
  private int word(byte[] bytes, int most) {
    int end = commands.end();
    if (at + 4 > end || bytes[at] != '$') {
      return -1;
    }
    int length = 0;
    int next = at + 1;
    while (next < end && next < at + 4 && bytes[next] != '\r') {
      int digit = bytes[next++] - '0';
      if (digit < 0 || digit > 9 || (length == 0 && next > at + 2)) { // leading zero
        return -1;
      }
      length = 10 * length + digit;
    }
    if (length > most || next + 2 + length + 2 > end || bytes[next] != '\r') {
      return -1;
    }
    at = next + 2 + length + 2;
    return length;
  }

  /** Reads a positive number as a bulk string; 0 for anything else. */
  private long number(byte[] bytes) {
    int digits = word(bytes, DIGITS_MAX);
    return digits < 1 ? 0 : commands.number(at - digits - 2, digits);
  }

  @Override
  public boolean mayAdd(long value, long delta) {
    return true;
  }

  @Override
  public void added(ByteBuf out, long value, long delta, boolean isOnce) {
    if (isOnce) {
      RespParser.number(out, '*', 3);
    }
    RespParser.number(out, ':', value);
    if (isOnce) {
      RespParser.number(out, ':', delta);
      RespParser.number(out, ':', 0);
    }
  }

  @Override
  public void read(ByteBuf out, byte[] bytes, int from, int length, long value) {
    RespParser.number(out, '$', Digits.count(value));
    Digits.line(out, value);
  }

  @Override
  public PendingCommand generalPath(FastCommands.FastCommand fast) {
    CounterCall call =
        fast.isRead()
            ? CounterCommands.get(fast.name(), memory)
            : CounterCommands.add(fast.name(), fast.delta(), fast.id(), memory);
    return new RespPendingCommand(new NamedCommand(call.command().name(), call), fast.mark());
  }
}
