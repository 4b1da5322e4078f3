package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Reply;
import dev.quipu.sketches.DistinctSketch;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The definition of a command: it drives parsing, {@code COMMAND} and the reference page. */
public final class RespCommand {
  private final String name;
  private final String usage;
  private final String summary;
  private final int arity;
  private final int firstKey;
  private final int lastKey;
  private final int step;
  private final boolean isOnWholeKeys;
  private final Access access;
  private final Handler handler;

  private RespCommand(Builder builder, Access access, Handler handler) {
    boolean hasKeys = builder.hasKeys && access != Access.NONE;
    this.name = builder.name;
    this.usage = builder.usage;
    this.summary = builder.summary;
    this.arity = builder.arity;
    this.firstKey = hasKeys ? 1 : 0;
    this.lastKey = hasKeys ? builder.lastKey : 0;
    this.step = hasKeys ? builder.step : 0;
    this.isOnWholeKeys = builder.isOnWholeKeys;
    this.access = access;
    this.handler = handler;
  }

  /**
   * Begins the definition of a command, of whose arguments the first is its only key.
   *
   * @param name in lower case
   * @param usage its arguments
   */
  static Builder of(String name, String usage) {
    return new Builder(name, usage);
  }

  /** A definition that ends with what the command does. */
  static final class Builder {
    private final String name;
    private final String usage;
    private String summary = "";
    private int arity = 1;
    private boolean hasKeys = true;
    private int lastKey = 1;
    private int step = 1;
    private boolean isOnWholeKeys;

    private Builder(String name, String usage) {
      this.name = name;
      this.usage = usage;
    }

    /** Sets what the command does, in a sentence. */
    Builder summary(String text) {
      summary = text;
      return this;
    }

    /** Sets the number of words, the name included; a negative one is a minimum, as in Redis. */
    Builder arity(int words) {
      arity = words;
      return this;
    }

    /** Declares that no argument is a key. */
    Builder noKeys() {
      hasKeys = false;
      return this;
    }

    /** Declares that the first argument, and every one at this distance from it, is a key. */
    Builder everyKey(int distance) {
      lastKey = -1;
      step = distance;
      return this;
    }

    /** Declares that the command may write or remove all that is under a key. */
    Builder onWholeKeys() {
      isOnWholeKeys = true;
      return this;
    }

    /** Ends the definition of a command that reads counters. */
    RespCommand reads(OnCounters handler) {
      return new RespCommand(this, Access.READ, handler);
    }

    /** Ends the definition of a command that changes counters. */
    RespCommand writes(OnCounters handler) {
      return new RespCommand(this, Access.WRITE, handler);
    }

    /** Ends the definition of a command on the connection. */
    RespCommand onSession(OnSession handler) {
      return new RespCommand(this, Access.NONE, handler);
    }

    /** Ends the definition of a command that begins with the connection and ends with counters. */
    RespCommand onTurn(OnTurn handler) {
      return new RespCommand(this, Access.NONE, handler);
    }
  }

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

  /** What a command does. */
  public sealed interface Handler {}

  /** What a command does with the connection it came by. */
  public non-sealed interface OnSession extends Handler {
    Reply run(Session session, Arguments arguments);
  }

  /** What a command does with the connection now, and with counters later. */
  public non-sealed interface OnTurn extends Handler {
    DeferredCommand begin(Session session, Arguments arguments);
  }

  /** What a command does with counters, in one step. */
  public non-sealed interface OnCounters extends Handler {
    Reply run(CounterAccess turn, Arguments arguments);
  }

  /** Returns the name, in lower case. */
  public String name() {
    return name;
  }

  /** Returns the arguments, as help shows them. */
  public String usage() {
    return usage;
  }

  /** Returns what the command does, in a sentence. */
  public String summary() {
    return summary;
  }

  public Handler handler() {
    return handler;
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

  /** Returns whether the command takes this number of words. */
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
            Reply.bulk(handler instanceof OnCounters ? "counters" : "connection")));
  }
}
