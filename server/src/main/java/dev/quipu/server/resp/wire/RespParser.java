package dev.quipu.server.resp.wire;

import dev.quipu.server.protocol.Digits;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * A command is an array of bulk strings, *2 $4 INCR $1 a, each head and each text on a line of its
 * own; or one line of words, as typed in telnet, with quotes as a shell has them.
 */

/** Reads commands from bytes as they come. One for each connection; not thread-safe. */
public final class RespParser {
  /** Most bytes of one argument. */
  static final int ARGUMENT_BYTES_MAX = 64 << 10;

  /** Most arguments of one command. */
  static final int ARGUMENTS_MAX = 32_768;

  /** What an argument holds besides its bytes. */
  public static final int ARGUMENT_OVERHEAD_BYTES = 32;

  /** Most bytes of all arguments of one command. */
  static final int COMMAND_BYTES_MAX = 1 << 20;

  /** Longest line: a command that is typed, or the head of an argument. */
  static final int LINE_BYTES_MAX = 64 << 10;

  static final int CRLF = '\r' << 8 | '\n';

  private @Nullable List<byte[]> arguments;
  private boolean isInline; // the last command that came, or comes
  private int missing;
  private int length = -1; // of the argument that is being read
  private int bytes; // of all arguments so far

  /** What came breaks the protocol: nothing that follows can be trusted. */
  public static final class ProtocolException extends Exception {
    private static final long serialVersionUID = 1;

    ProtocolException(String what) {
      super(what, null, false, false);
    }
  }

  /**
   * The next command.
   *
   * @return null if it is not there yet; an empty one is to be ignored
   */
  public @Nullable List<byte[]> next(ByteBuf in) throws ProtocolException {
    if (arguments == null) {
      if (!in.isReadable()) {
        return null;
      }
      if (in.getByte(in.readerIndex()) != '*') {
        isInline = true;
        return inline(in);
      }
      isInline = false;
      missing = shortCount(in);
      if (missing < 0) {
        int end = lineEnd(in, "too big mbulk count string");
        if (end < 0) {
          return null;
        }
        in.skipBytes(1);
        missing = count(in, end, "invalid multibulk length");
      }
      if (missing > ARGUMENTS_MAX) {
        throw new ProtocolException(
            "invalid multibulk length: command has %d arguments; the limit is %d. Send several"
                .formatted(missing, ARGUMENTS_MAX));
      }
      if (missing <= 0) {
        return List.of();
      }
      arguments = new ArrayList<>(Math.min(missing, 16));
      bytes = 0;
    }
    return rest(in, arguments);
  }

  private @Nullable List<byte[]> rest(ByteBuf in, List<byte[]> read) throws ProtocolException {
    while (missing > 0) {
      if (length < 0) {
        length = argumentLength(in);
        if (length < 0) {
          return null;
        }
        bytes += length;
        if (bytes > COMMAND_BYTES_MAX) {
          throw new ProtocolException(
              "command is more than %d bytes. Send several commands".formatted(COMMAND_BYTES_MAX));
        }
      }
      if (in.readableBytes() < length + 2) {
        return null;
      }
      byte[] argument = new byte[length];
      in.readBytes(argument).skipBytes(2);
      read.add(argument);
      length = -1;
      missing--;
    }
    arguments = null;
    return read;
  }

  /** The length of the argument whose head begins here; -1 if the head has not come. */
  private static int argumentLength(ByteBuf in) throws ProtocolException {
    if (in.isReadable() && in.getByte(in.readerIndex()) == '$') {
      int length = shortCount(in);
      if (length >= 0) {
        return length;
      }
    }
    int end = lineEnd(in, "too big bulk count string");
    if (end < 0) {
      return -1;
    }
    byte kind = in.readByte();
    if (kind != '$') {
      throw new ProtocolException("expected '$', got '" + (char) (kind & 0xff) + "'");
    }
    int length = count(in, end, "invalid bulk length");
    if (length < 0) {
      throw new ProtocolException("invalid bulk length");
    }
    if (length > ARGUMENT_BYTES_MAX) {
      throw new ProtocolException(
          "invalid bulk length: argument is %d bytes; the limit is %d"
              .formatted(length, ARGUMENT_BYTES_MAX));
    }
    return length;
  }

  /** The end of the line that begins here; -1 if it has not come. */
  private static int lineEnd(ByteBuf in, String tooLong) throws ProtocolException {
    int most = Math.min(in.readableBytes(), LINE_BYTES_MAX + 1);
    int end = in.indexOf(in.readerIndex(), in.readerIndex() + most, (byte) '\r');
    if (end < 0) {
      if (most > LINE_BYTES_MAX) {
        throw new ProtocolException(tooLong);
      }
      return -1;
    }
    return end + 1 < in.writerIndex() ? end : -1;
  }

  /** Reads a head with a number of up to three digits, as nearly all are; -1 for any other. */
  private static int shortCount(ByteBuf in) {
    int first = in.readerIndex() + 1;
    int end = Math.min(in.writerIndex() - 1, first + 4);
    int count = 0;
    for (int i = first; i < end; i++) {
      int digit = in.getByte(i) - '0';
      if (digit == '\r' - '0' && i > first) {
        in.readerIndex(i + 2);
        return count;
      }
      if (digit < 0 || digit > 9 || (count == 0 && i > first)) { // an error, or a zero ahead
        return -1;
      }
      count = 10 * count + digit;
    }
    return -1;
  }

  private static int count(ByteBuf in, int end, String wrong) throws ProtocolException {
    int at = in.readerIndex();
    boolean isNegative = at < end && in.getByte(at) == '-';
    long count = 0;
    int first = isNegative ? at + 1 : at;
    for (int i = first; i < end; i++) {
      int digit = in.getByte(i) - '0';
      if (digit < 0 || digit > 9 || i - first > 10 || (count == 0 && i > first)) {
        throw new ProtocolException(wrong);
      }
      count = 10 * count + digit;
    }
    if (first == end || (!isNegative && count > Integer.MAX_VALUE)) {
      throw new ProtocolException(wrong);
    }
    in.readerIndex(end + 2);
    return (int) (isNegative ? -1 : count);
  }

  private static @Nullable List<byte[]> inline(ByteBuf in) throws ProtocolException {
    int most = Math.min(in.readableBytes(), LINE_BYTES_MAX + 1);
    int end = in.indexOf(in.readerIndex(), in.readerIndex() + most, (byte) '\n');
    if (end < 0) {
      if (most > LINE_BYTES_MAX) {
        throw new ProtocolException("too big inline request");
      }
      return null;
    }
    byte[] line = new byte[end - in.readerIndex()];
    in.readBytes(line).skipBytes(1);
    int length = line.length > 0 && line[line.length - 1] == '\r' ? line.length - 1 : line.length;
    return Words.of(line, length);
  }

  /** Whether the last command came as a line. */
  public boolean isInline() {
    return isInline;
  }

  /** Whether no command has begun. */
  public boolean isBetween() {
    return arguments == null;
  }

  /** Returns what the arguments hold of a command that is not whole yet. */
  public long heldBytes() {
    List<byte[]> read = arguments;
    return read == null
        ? 0
        : bytes - Math.max(length, 0) + (long) ARGUMENT_OVERHEAD_BYTES * read.size();
  }

  /** A head: its kind and a number. */
  public static void number(ByteBuf out, char kind, long value) {
    out.writeByte(kind);
    Digits.line(out, value);
  }
}
