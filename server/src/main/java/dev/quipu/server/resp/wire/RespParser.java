package dev.quipu.server.resp.wire;

import dev.quipu.server.protocol.Digits;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * A command is an array of bulk strings, *2 $4 INCR $1 a, with CRLF after each part; or an inline
 * command: one line of words, with quotes as in a shell.
 */

/** Parses the commands of one connection incrementally. Not thread-safe. */
public final class RespParser {
  /** Maximum size of an argument. */
  static final int ARGUMENT_BYTES_MAX = 64 << 10;

  /** Maximum number of arguments of a command. */
  static final int ARGUMENTS_MAX = 32_768;

  /** Memory overhead of an argument. */
  public static final int ARGUMENT_OVERHEAD_BYTES = 32;

  /** Maximum size of all arguments of a command. */
  static final int COMMAND_BYTES_MAX = 1 << 20;

  /** Maximum length of a line: an inline command or the header of an argument. */
  static final int LINE_BYTES_MAX = 64 << 10;

  static final int CRLF = '\r' << 8 | '\n';

  private @Nullable List<byte[]> arguments;
  private boolean isInline; // the last or current command
  private int missing;
  private int length = -1; // of the current argument
  private int bytes; // of all arguments so far

  /** Malformed input: the rest of the connection cannot be parsed. */
  public static final class ProtocolException extends Exception {
    private static final long serialVersionUID = 1;

    ProtocolException(String what) {
      super(what, null, false, false);
    }
  }

  /**
   * Parses the next command.
   *
   * @return null if it is incomplete; an empty command must be ignored
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

  /** Parses the header of an argument; returns its length, or -1 if the header is incomplete. */
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

  /** Returns the end of the current line; -1 if it is incomplete. */
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

  /** Parses a header of up to three digits, the common case; -1 for any other. */
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
      if (digit < 0 || digit > 9 || (count == 0 && i > first)) { // malformed, or a leading zero
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

  /** Returns whether the last command was an inline command. */
  public boolean isInline() {
    return isInline;
  }

  /** Returns whether no command is incomplete. */
  public boolean isBetween() {
    return arguments == null;
  }

  /** Returns the memory held by an incomplete command, in bytes. */
  public long heldBytes() {
    List<byte[]> read = arguments;
    return read == null
        ? 0
        : bytes - Math.max(length, 0) + (long) ARGUMENT_OVERHEAD_BYTES * read.size();
  }

  /** Writes a header: its type and a number. */
  public static void number(ByteBuf out, char kind, long value) {
    out.writeByte(kind);
    Digits.line(out, value);
  }
}
