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

/** A command with its words and data. */
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

  /** Reserves memory for more bytes of the reply, or rejects the command. */
  void requireMemory(int bytes) {
    if (memory.collect(bytes) != ConnectionMemory.Room.TAKEN) {
      throw new Rejected("SERVER_ERROR out of memory writing get response");
    }
  }

  /** Returns the number of words without {@code noreply}. */
  int size() {
    return isQuiet ? line.size() - 1 : line.size();
  }

  String key() {
    return line.key(1);
  }

  Slot slot(CounterAccess counters) {
    return shared.slot(counters, key());
  }

  /**
   * Converts a memcached time to milliseconds since 1970: 0 for never, 1 for immediately.
   *
   * @param time 0 for never, up to 30 days in seconds from now, else in seconds since 1970
   */
  static long expiresAt(CounterAccess counters, long time) {
    if (time == 0) {
      return 0;
    }
    if (time < 0) {
      return 1;
    }
    if (time <= RELATIVE_SECONDS_MAX) {
      return counters.nowMillis() + time * 1_000;
    }
    return time > Long.MAX_VALUE / 1_000 ? 0 : time * 1_000;
  }

  @Override
  public int bytesMax(CounterAccess counters) {
    int length = line.bytes().length + data.length + (data.length > 0 ? StoredText.BYTES_MAX : 0);
    return CounterAccess.bytesMax(1 + line.size(), length);
  }

  @Override
  public void run(CounterAccess counters, ByteBuf out) {
    int before = out.writerIndex();
    long changes = counters.changeCount();
    try {
      command.handler().run(counters, this, out);
    } catch (RuntimeException e) {
      PendingCommand.requireWhole(counters, changes, e);
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
   * Returns the reply to a failed command.
   *
   * @param command the name for the log; never client data
   */
  static String answer(String command, RuntimeException why) {
    return switch (why) {
      case Rejected rejected -> String.valueOf(why.getMessage());
      case QuipuException store ->
          store.outcome() == Outcome.NOT_APPLIED && store.reason() == Reason.FULL
              ? "SERVER_ERROR " + why.getMessage() // out of memory, as in memcached
              : "SERVER_ERROR %s %s".formatted(store.outcome(), why.getMessage());
      case IllegalArgumentException wrong -> "CLIENT_ERROR " + why.getMessage();
      default -> {
        Incidents.inCommand("memcached", command, why);
        yield "SERVER_ERROR UNKNOWN internal error; see the server log";
      }
    };
  }

  /** Writes a line. */
  static void line(ByteBuf out, String text) {
    out.writeCharSequence(text.replace('\r', ' ').replace('\n', ' '), StandardCharsets.UTF_8);
    out.writeShort('\r' << 8 | '\n');
  }
}
