package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import dev.quipu.server.protocol.Batch;
import dev.quipu.server.protocol.CommandDecoder;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.protocol.Digits;
import dev.quipu.server.protocol.FastCommands;
import dev.quipu.server.protocol.Flush;
import dev.quipu.server.protocol.PendingCommand;
import dev.quipu.server.protocol.StoredText;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decodes the memcached protocol on one connection. */
final class MemcacheDecoder implements CommandDecoder, FastCommands.Dialect {
  /** Maximum length of a command line. */
  static final int LINE_BYTES_MAX = 64 << 10;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final int INCR = 0x696e6372;
  private static final int DECR = 0x64656372;
  private static final int GET = 0x67657420; // and a space
  private static final int DIGITS_MAX = 17; // cannot overflow
  private static final int BYTES_MIN = 8;
  private static final int BINARY_REQUEST = 0x80;
  private static final byte[] VALUE = ascii("VALUE ");
  private static final byte[] NO_FLAGS = ascii(" 0 ");
  private static final byte[] END = ascii("END\r\n");
  private static final String OUT_OF_MEMORY = "SERVER_ERROR out of memory reading request";

  private static final Line EMPTY = new Line(new byte[0]);

  private final MemcacheState shared;
  private final ConnectionMemory memory;
  private final FastCommands fastCommands = new FastCommands(this);
  private boolean isAuthenticated;
  private boolean isEnding;
  private boolean hasBegun;
  private @Nullable MemcacheCommand command; // waiting for its data
  private Line line = EMPTY;
  private int length; // of the data
  private long skipping; // bytes of rejected data

  MemcacheDecoder(MemcacheState shared, ConnectionMemory memory) {
    this.memory = memory;
    this.shared = shared;
    this.isAuthenticated = shared.options().token().isEmpty();
    shared.connected.incrementAndGet();
    shared.accepted.increment();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** A reply that needs no commit. */
  private record FixedReply(String line) implements PendingCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return 0;
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      Request.line(out, line);
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      Request.line(out, line);
    }
  }

  /** {@code flush_all}. */
  private static final class Flushing implements PendingCommand {
    static final String NAME = "flush_all";

    private final boolean isQuiet;
    private final Flush flush = new Flush();

    Flushing(boolean isQuiet) {
      this.isQuiet = isQuiet;
    }

    @Override
    public int bytesMax(CounterAccess counters) {
      return Flush.bytesMax();
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      String answer = "OK";
      long changes = counters.changeCount();
      try {
        flush.part(counters);
      } catch (RuntimeException e) {
        PendingCommand.requireWhole(counters, changes, e);
        answer = Request.answer(NAME, e);
      }
      if (flush.isDone() && !isQuiet) {
        Request.line(out, answer);
      }
    }

    @Override
    public boolean isDone() {
      return flush.isDone();
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      if (!isQuiet) {
        Request.line(out, Request.answer(NAME, why));
      }
    }
  }

  /** The errors are ERROR, CLIENT_ERROR and SERVER_ERROR; other replies begin otherwise. */
  @Override
  public boolean isError(ByteBuf replies, int at) {
    if (replies.writerIndex() - at < 2) {
      return false;
    }
    return switch (replies.getShort(at)) {
      case 'E' << 8 | 'R', 'C' << 8 | 'L', 'S' << 8 | 'E' -> true;
      default -> false;
    };
  }

  @Override
  public boolean isEnding() {
    return isEnding;
  }

  @Override
  public boolean hasPartialCommand() {
    return command != null || skipping > 0;
  }

  @Override
  public long heldBytes() {
    return command == null ? 0 : line.bytes().length;
  }

  @Override
  public long keptBytes() {
    return fastCommands.heldBytes();
  }

  @Override
  public void answered() {
    fastCommands.answered();
  }

  @Override
  public void trim() {
    fastCommands.trim();
  }

  @Override
  public void outOfMemory(Batch batch) {
    isEnding = true;
    batch.add(new FixedReply(OUT_OF_MEMORY));
  }

  @Override
  public void closed(Batch last) {
    shared.connected.decrementAndGet();
  }

  /** Returns whether the input starts with a binary command, which is not supported. */
  private boolean isBinary(ByteBuf in) {
    hasBegun = true;
    return (in.getByte(in.readerIndex()) & 0xff) == BINARY_REQUEST;
  }

  @Override
  public boolean decode(ByteBuf in, Batch batch) {
    if (!hasBegun && in.isReadable() && isBinary(in)) {
      isEnding = true;
      return false;
    }
    if (skipping > 0) {
      int gone = (int) Math.min(skipping, in.readableBytes());
      in.skipBytes(gone);
      skipping -= gone;
      return gone > 0;
    }
    MemcacheCommand waiting = command;
    if (waiting != null) {
      return data(waiting, in, batch);
    }
    if (isAuthenticated && takeFast(in, batch)) {
      shared.commands.increment();
      return true;
    }
    int most = Math.min(in.readableBytes(), LINE_BYTES_MAX + 2);
    int end = in.indexOf(in.readerIndex(), in.readerIndex() + most, (byte) '\n');
    if (end < 0) {
      if (most > LINE_BYTES_MAX) {
        isEnding = true;
        batch.add(new FixedReply("CLIENT_ERROR line too long"));
      }
      return false;
    }
    int size = end - in.readerIndex();
    byte[] bytes = new byte[size];
    in.readBytes(bytes).skipBytes(1);
    boolean hasReturn = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
    line = new Line(hasReturn ? Arrays.copyOf(bytes, bytes.length - 1) : bytes);
    shared.commands.increment();
    if (batch.tryHold(line.heldBytes())) {
      take(batch);
    } else {
      line = EMPTY;
      batch.add(new FixedReply(OUT_OF_MEMORY));
    }
    return true;
  }

  /** Decodes incr, decr or get of one key, if it is complete and in its plain form. */
  private boolean takeFast(ByteBuf in, Batch batch) {
    int first = fastCommands.look(in, batch);
    byte[] bytes = fastCommands.window();
    if (fastCommands.end() - first < BYTES_MIN) {
      return false;
    }
    int verb = (int) INT.get(bytes, first);
    boolean isRead = verb == GET;
    int from = first + (isRead ? 4 : 5);
    if (!isRead && ((verb != INCR && verb != DECR) || bytes[first + 4] != ' ')) {
      return false;
    }
    int nameEnd = wordEnd(bytes, from, FastCommands.NAME_BYTES_MAX);
    int length = nameEnd - from;
    if (length < 1) {
      return false;
    }
    if (isRead) {
      if (!isLineEnd(bytes, nameEnd)) {
        return false;
      }
      fastCommands.read(from, length, nameEnd + 2);
      return true;
    }
    int end = bytes[nameEnd] == ' ' ? wordEnd(bytes, nameEnd + 1, DIGITS_MAX) : -1;
    if (end < 0 || !isLineEnd(bytes, end)) {
      return false;
    }
    long delta = fastCommands.number(nameEnd + 1, end - nameEnd - 1);
    if (delta == 0) {
      return false; // or a malformed number
    }
    fastCommands.add(from, length, verb == INCR ? delta : -delta, end + 2);
    return true;
  }

  /** Returns the end of a word; -1 if it is incomplete. */
  private int wordEnd(byte[] bytes, int from, int most) {
    int last = Math.min(fastCommands.end(), from + most + 1);
    for (int at = from; at < last; at++) {
      if (bytes[at] == ' ' || bytes[at] == '\r') {
        return at;
      }
    }
    return -1;
  }

  private boolean isLineEnd(byte[] bytes, int at) {
    return at + 2 <= fastCommands.end() && bytes[at] == '\r' && bytes[at + 1] == '\n';
  }

  @Override
  public boolean mayAdd(long value, long delta) {
    return value >= 0 && (delta > 0 ? value <= Long.MAX_VALUE - delta : value >= -delta);
  }

  @Override
  public void added(ByteBuf out, long value, long delta, boolean isOnce) {
    Digits.line(out, value);
  }

  @Override
  public void read(ByteBuf out, byte[] bytes, int from, int length, long value) {
    out.writeBytes(VALUE).writeBytes(bytes, from, length).writeBytes(NO_FLAGS);
    Digits.line(out, Digits.count(value));
    Digits.line(out, value);
    out.writeBytes(END);
  }

  @Override
  public PendingCommand generalPath(FastCommands.FastCommand fast) {
    String verb = fast.isRead() ? "get " : fast.delta() > 0 ? "incr " : "decr ";
    String number = fast.isRead() ? "" : " " + Math.abs(fast.delta());
    byte[] head = verb.getBytes(StandardCharsets.ISO_8859_1);
    byte[] tail = number.getBytes(StandardCharsets.ISO_8859_1);
    byte[] name = fast.name();
    byte[] all = Arrays.copyOf(head, head.length + name.length + tail.length);
    System.arraycopy(name, 0, all, head.length, name.length);
    System.arraycopy(tail, 0, all, head.length + name.length, tail.length);
    MemcacheCommand found = Objects.requireNonNull(MemcacheCommands.find(verb.strip()));
    return new Request(found, new Line(all), new byte[0], shared, memory);
  }

  /** Returns the reply to a wrong number of words; memcached's own reply where it has one. */
  private static String wrongCount(MemcacheCommand command, int words) {
    if (command.name().equals("ms") && words == 2) {
      return Line.BAD_FORMAT;
    }
    boolean isTooManyKeys =
        command.wordsMax() == TextCommands.WORDS_MAX && words >= command.wordsMin();
    return isTooManyKeys
        ? "CLIENT_ERROR at most %d keys".formatted(command.wordsMax() - command.wordsMin() + 1)
        : "ERROR";
  }

  private void take(Batch batch) {
    String name = line.size() == 0 ? "" : line.text(0);
    MemcacheCommand found = MemcacheCommands.find(name);
    // A browser that sends HTTP to this port, possibly as an attack.
    boolean isHttp =
        name.equals("POST")
            || name.equals("Host:")
            || (line.size() == 3 && line.text(2).startsWith("HTTP/"));
    if (found == null || isHttp) {
      isEnding |= isHttp;
      batch.add(new FixedReply("ERROR"));
      return;
    }
    if (found.name().equals("quit")) {
      isEnding = true;
      return;
    }
    boolean isQuiet = found.isQuiet(line);
    int words = line.size() - (isQuiet ? 1 : 0);
    if (words < found.wordsMin() || words > found.wordsMax()) {
      batch.add(new FixedReply(wrongCount(found, words)));
    } else if (found.lengthAt() > 0) {
      begin(found, batch);
    } else if (!isAuthenticated) {
      batch.add(new FixedReply("CLIENT_ERROR unauthenticated"));
    } else if (found.name().equals("flush_all") && shared.options().mayFlush()) {
      flush(words, isQuiet, batch);
    } else {
      batch.add(new Request(found, line, new byte[0], shared, memory));
    }
  }

  /** Adds a flush; a delayed or malformed one is rejected. */
  private void flush(int words, boolean isQuiet, Batch batch) {
    try {
      boolean isNow = words == 1 || line.number(1, TextCommands.INVALID_TIME) <= 0;
      batch.add(
          isNow
              ? new Flushing(isQuiet)
              : new FixedReply("CLIENT_ERROR flush_all does not support a delay"));
    } catch (Rejected e) {
      batch.add(new FixedReply(String.valueOf(e.getMessage())));
    }
  }

  /** Begins a command that is followed by data. */
  private void begin(MemcacheCommand found, Batch batch) {
    long wanted;
    try {
      wanted = line.number(found.lengthAt(), Line.BAD_FORMAT);
    } catch (Rejected e) {
      wanted = -1;
    }
    if (wanted < 0 || wanted > Integer.MAX_VALUE) {
      batch.add(new FixedReply(Line.BAD_FORMAT));
    } else if (wanted > StoredText.BYTES_MAX) {
      skipping = wanted + 2;
      batch.add(new FixedReply(TextCommands.TOO_LARGE));
    } else {
      command = found;
      length = (int) wanted;
    }
  }

  private boolean data(MemcacheCommand waiting, ByteBuf in, Batch batch) {
    if (in.readableBytes() < length + 2) {
      return false;
    }
    byte[] data = new byte[length];
    in.readBytes(data);
    batch.countSmall(length);
    command = null;
    if (in.getShort(in.readerIndex()) != ('\r' << 8 | '\n')) {
      // The start of the next command is unknown; like memcached, skip the rest of the line.
      int end = in.indexOf(in.readerIndex(), in.writerIndex(), (byte) '\n');
      in.readerIndex(end < 0 ? in.writerIndex() : end + 1);
      batch.add(new FixedReply("CLIENT_ERROR bad data chunk"));
      return true;
    }
    in.skipBytes(2);
    if (!isAuthenticated) {
      isAuthenticated = waiting.name().equals("set") && isToken(data);
      batch.add(new FixedReply(isAuthenticated ? "STORED" : "CLIENT_ERROR authentication failure"));
    } else {
      batch.add(new Request(waiting, line, data, shared, memory));
    }
    return true;
  }

  /** Returns whether the data is an ignored user name, a space and the required token. */
  private boolean isToken(byte[] data) {
    String shown = new String(data, StandardCharsets.UTF_8);
    Optional<String> wanted = shared.options().token();
    return wanted.isPresent()
        && MessageDigest.isEqual(
            wanted.get().getBytes(StandardCharsets.UTF_8),
            shown.substring(shown.indexOf(' ') + 1).getBytes(StandardCharsets.UTF_8));
  }
}
