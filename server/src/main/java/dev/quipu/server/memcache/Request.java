package dev.quipu.server.memcache;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import dev.quipu.server.net.Incidents;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.protocol.PendingCommand;
import dev.quipu.server.protocol.StoredText;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** One command on its way: its words and its data. */
final class Request implements PendingCommand {
  private static final long RELATIVE_SECONDS_MAX = 30L * 24 * 60 * 60;

  private final MemcacheCommand command;
  private final Line line;
  private final byte[] data;
  private final MemcacheState shared;
  private final ConnectionMemory memory;
  private final boolean isQuiet;

  Request(
      MemcacheCommand command,
      Line line,
      byte[] data,
      MemcacheState shared,
      ConnectionMemory memory) {
    this.memory = memory;
    this.command = command;
    this.line = line;
    this.data = data;
    this.shared = shared;
    this.isQuiet = command.isQuiet(line);
  }

  Line line() {
    return line;
  }

  byte[] data() {
    return data;
  }

  MemcacheState shared() {
    return shared;
  }

  /** Makes sure that there is memory for this many more bytes of the answer. */
  void requireMemory(int bytes) {
    if (memory.collect(bytes) != ConnectionMemory.Room.TAKEN) {
      throw new Rejected("SERVER_ERROR out of memory writing get response");
    }
  }

  /** Words without {@code noreply}. */
  int size() {
    return isQuiet ? line.size() - 1 : line.size();
  }

  String key() {
    return line.key(1);
  }

  boolean isUnsigned() {
    return shared.isUnsigned(key());
  }

  /**
   * When something expires, in milliseconds since 1970: 0 for never, 1 for at once.
   *
   * @param time 0 for never, seconds from now up to 30 days, else seconds since 1970
   */
  static long expiresAt(CounterAccess turn, long time) {
    if (time == 0) {
      return 0;
    }
    if (time < 0) {
      return 1;
    }
    if (time <= RELATIVE_SECONDS_MAX) {
      return turn.nowMillis() + time * 1_000;
    }
    return time > Long.MAX_VALUE / 1_000 ? 0 : time * 1_000;
  }

  @Override
  public int bytesMax(CounterAccess turn) {
    int length = line.bytes().length + data.length + (data.length > 0 ? StoredText.BYTES_MAX : 0);
    return CounterAccess.bytesMax(1 + line.size(), length);
  }

  @Override
  public void run(CounterAccess turn, ByteBuf out) {
    int before = out.writerIndex();
    long changes = turn.changeCount();
    try {
      command.does().run(turn, this, out);
    } catch (RuntimeException e) {
      PendingCommand.requireWhole(turn, changes, e);
      out.writerIndex(before);
      line(out, answer(command.name(), e));
    }
    if (isQuiet) {
      out.writerIndex(before);
    }
  }

  @Override
  public void failed(RuntimeException why, ByteBuf out) {
    if (!isQuiet) {
      line(out, answer(command.name(), why));
    }
  }

  /**
   * Returns the answer of a command that ended so.
   *
   * @param command for the log; never what a client sent
   */
  static String answer(String command, RuntimeException why) {
    return switch (why) {
      case Rejected rejected -> String.valueOf(why.getMessage());
      case QuipuException store ->
          store.outcome() == Outcome.NOT_APPLIED && store.reason() == Reason.FULL
              ? "SERVER_ERROR " + why.getMessage() // out of memory, as memcached has it
              : "SERVER_ERROR %s %s".formatted(store.outcome(), why.getMessage());
      case IllegalArgumentException wrong -> "CLIENT_ERROR " + why.getMessage();
      default -> {
        Incidents.inCommand("memcached", command, why);
        yield "SERVER_ERROR UNKNOWN internal error; see the log of the server";
      }
    };
  }

  /** Writes a line. */
  static void line(ByteBuf out, String text) {
    out.writeCharSequence(text.replace('\r', ' ').replace('\n', ' '), StandardCharsets.UTF_8);
    out.writeShort('\r' << 8 | '\n');
  }
}
