package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.wire.Later;
import dev.quipu.server.resp.wire.Reply;
import dev.quipu.sketches.DistinctSketch;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One command in data: what drives its parsing, {@code COMMAND} and the reference page.
 *
 * @param name in lower case
 * @param arity words of it, its name included; negative for at least so many
 * @param access whether it reads or changes counters
 * @param firstKey the place of the first key; 0 for none
 * @param lastKey of the last; -1 for the end
 * @param step from one key to the next
 * @param usage its arguments
 * @param summary what it does
 * @param isOnWholeKeys whether it may write or remove all that is under a key
 * @param onSession what it does with the connection; null for another command
 * @param onTurn what it does with the connection now, and with counters later; null for another
 * @param onCounters what it does with counters; null for another command
 */
public record RespCommand(
    String name,
    int arity,
    Access access,
    int firstKey,
    int lastKey,
    int step,
    String usage,
    String summary,
    boolean isOnWholeKeys,
    @Nullable OnSession onSession,
    @Nullable OnTurn onTurn,
    @Nullable OnCounters onCounters) {

  /** What a command does with counters. */
  enum Access {
    NONE,
    READ,
    WRITE;

    /** As {@code COMMAND} shows it. */
    List<String> flags() {
      return switch (this) {
        case NONE -> List.of("fast", "noscript");
        case READ -> List.of("fast", "readonly");
        case WRITE -> List.of("denyoom", "fast", "write");
      };
    }
  }

  /** What a command does with the connection it came by. */
  public interface OnSession {
    Reply run(Session session, Arguments arguments);
  }

  /** What a command does with the connection, and then with counters. */
  public interface OnTurn {
    Later begin(Session session, Arguments arguments);
  }

  /** What a command does with counters, in one step. */
  interface OnCounters {
    Reply run(CounterAccess turn, Arguments arguments);
  }

  /** A command about the connection. */
  static RespCommand ofSession(
      String name, int arity, String usage, String summary, OnSession onSession) {
    return new RespCommand(
        name, arity, Access.NONE, 0, 0, 0, usage, summary, false, onSession, null, null);
  }

  /** A command that begins with the connection and ends with counters. */
  static RespCommand onTurn(String name, int arity, String usage, String summary, OnTurn onTurn) {
    return new RespCommand(
        name, arity, Access.NONE, 0, 0, 0, usage, summary, false, null, onTurn, null);
  }

  /** A command that reads counters, from the first word on. */
  static RespCommand reads(
      String name, int arity, int lastKey, String usage, String summary, OnCounters onCounters) {
    int first = lastKey == 0 ? 0 : 1;
    return new RespCommand(
        name,
        arity,
        Access.READ,
        first,
        lastKey,
        first,
        usage,
        summary,
        false,
        null,
        null,
        onCounters);
  }

  /** A command that changes counters. */
  static RespCommand writes(
      String name,
      int arity,
      int lastKey,
      int step,
      String usage,
      String summary,
      OnCounters onCounters) {
    return new RespCommand(
        name, arity, Access.WRITE, 1, lastKey, step, usage, summary, false, null, null, onCounters);
  }

  /** The same, of one that may write or remove all that is under a key. */
  RespCommand onWholeKeys() {
    return new RespCommand(
        name,
        arity,
        access,
        firstKey,
        lastKey,
        step,
        usage,
        summary,
        true,
        onSession,
        onTurn,
        onCounters);
  }

  /** Most bytes of log that it writes. */
  int bytesMax(CounterAccess turn, Arguments arguments) {
    if (!isWrite()) {
      return 0;
    }
    int changes = arguments.size();
    int length = 0;
    for (int i = 1; i < arguments.size(); i++) {
      length += arguments.bytes(i).length;
    }
    if (isOnWholeKeys) {
      int last = lastKey < 0 ? arguments.size() - 1 : lastKey;
      length += DistinctSketch.BYTES_MAX;
      long bytes = CounterAccess.bytesMax(changes, length);
      Set<String> keys = new HashSet<>(); // a key that is named again ends nothing more
      for (int i = firstKey;
          i <= last && turn.canEverFit(Math.clamp(bytes, 0, Integer.MAX_VALUE));
          i += step) {
        if (keys.add(arguments.anyKey(i))) {
          bytes += CounterAccess.endsBytesMax(Family.size(turn, arguments.anyKey(i)));
        }
      }
      return Math.clamp(bytes, 0, Integer.MAX_VALUE);
    }
    return CounterAccess.bytesMax(changes, length);
  }

  /** Whether so many words may be. */
  public boolean takes(int words) {
    return arity >= 0 ? words == arity : words >= -arity;
  }

  boolean isWrite() {
    return access == Access.WRITE;
  }

  /** What {@code COMMAND INFO} tells. */
  Reply describe() {
    List<Reply> all =
        List.of(
            Reply.bulk(name),
            new Reply.Number(arity),
            new Reply.Distinct(access.flags().stream().<Reply>map(Reply.Simple::new).toList()),
            new Reply.Number(firstKey),
            new Reply.Number(lastKey),
            new Reply.Number(step),
            new Reply.Distinct(List.of(new Reply.Simple(isWrite() ? "@write" : "@read"))),
            new Reply.Several(List.of()),
            new Reply.Several(List.of()),
            new Reply.Several(List.of()));
    return new Reply.Several(all);
  }

  /** What {@code COMMAND DOCS} tells. */
  Reply docs() {
    return new Reply.Pairs(
        List.of(
            Reply.bulk("summary"),
            Reply.bulk(summary),
            Reply.bulk("group"),
            Reply.bulk(onCounters == null ? "connection" : "counters")));
  }
}
