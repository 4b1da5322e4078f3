package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.net.CommandHelp;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Reply;
import dev.quipu.sketches.DistinctSketch;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringTokenizer;

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
   * Begins the definition of a command whose first argument is its only key.
   *
   * @param name in lower case
   * @param usage its arguments
   */
  static Builder of(String name, String usage) {
    return new Builder(name, usage);
  }

  /** Builds a definition; the handler completes it. */
  static final class Builder {
    private final String name;
    private final String usage;
    private String summary = "";
    private int arity;
    private boolean hasKeys = true;
    private int lastKey = 1;
    private int step = 1;
    private boolean isOnWholeKeys;

    private Builder(String name, String usage) {
      this.name = name;
      this.usage = usage;
      this.arity = arity(usage);
    }

    private static int arity(String usage) {
      String required = usage;
      while (required.contains("[")) {
        required = required.replaceAll("\\[[^\\[]*?]", ""); // the innermost brackets
      }
      int words = 1 + new StringTokenizer(required).countTokens();
      return required.equals(usage) ? words : -words;
    }

    /** Sets the description, one sentence. */
    Builder summary(String text) {
      summary = text;
      return this;
    }

    /**
     * Sets the number of words including the name; negative for a minimum, as in Redis. By default
     * it is the number of words of the usage, with those in brackets optional.
     */
    Builder arity(int words) {
      arity = words;
      return this;
    }

    /** Declares that no argument is a key. */
    Builder noKeys() {
      hasKeys = false;
      return this;
    }

    /** Declares that every argument at this distance from the first is a key. */
    Builder everyKey(int distance) {
      lastKey = -1;
      step = distance;
      return this;
    }

    /** Declares that the command may replace or remove whole keys, with all their members. */
    Builder onWholeKeys() {
      isOnWholeKeys = true;
      return this;
    }

    /** Completes a command that reads counters. */
    RespCommand reads(OnCounters handler) {
      return new RespCommand(this, Access.READ, handler);
    }

    /** Completes a command that changes counters. */
    RespCommand writes(OnCounters handler) {
      return new RespCommand(this, Access.WRITE, handler);
    }

    /** Completes a command that reads counters, and whose arguments are read before the commit. */
    RespCommand readsOnEngine(OnEngine handler) {
      return new RespCommand(this, Access.READ, handler);
    }

    /** Completes one that changes counters in the same way. */
    RespCommand writesOnEngine(OnEngine handler) {
      return new RespCommand(this, Access.WRITE, handler);
    }

    /** Completes a command that needs the connection only. */
    RespCommand onSession(OnSession handler) {
      return new RespCommand(this, Access.NONE, handler);
    }

    /** Completes a command that starts on the connection and finishes in the engine. */
    RespCommand onEngine(OnEngine handler) {
      return new RespCommand(this, Access.NONE, handler);
    }
  }

  /** How a command accesses counters. */
  enum Access {
    NONE,
    READ,
    WRITE;

    /** Returns the flags that {@code COMMAND} shows. */
    List<String> flags() {
      return switch (this) {
        case NONE -> List.of("fast", "noscript");
        case READ -> List.of("fast", "readonly");
        case WRITE -> List.of("denyoom", "fast", "write");
      };
    }
  }

  /** The implementation of a command. */
  public sealed interface Handler {}

  /** Runs on the connection, when the command is decoded. */
  public non-sealed interface OnSession extends Handler {
    Reply run(Session session, Arguments arguments);
  }

  /** Starts on the connection; the result runs in the next commit. */
  public non-sealed interface OnEngine extends Handler {
    DeferredCommand begin(Session session, Arguments arguments);
  }

  /** Runs in the next commit. */
  public non-sealed interface OnCounters extends Handler {
    Reply run(CounterAccess counters, Arguments arguments);
  }

  /** Returns the name, in lower case. */
  public String name() {
    return name;
  }

  /** Returns the description for the reference page. */
  public CommandHelp help() {
    return new CommandHelp("Redis", name.toUpperCase(Locale.ROOT), usage, summary);
  }

  public Handler handler() {
    return handler;
  }

  /** Returns the maximum log bytes of a call. */
  int bytesMax(CounterAccess counters, Arguments arguments) {
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
      Set<String> keys = new HashSet<>(); // a repeated key removes nothing more
      for (int i = firstKey;
          i <= last && counters.canEverFit(Math.clamp(bytes, 0, Integer.MAX_VALUE));
          i += step) {
        if (keys.add(arguments.anyKey(i))) {
          bytes += CounterAccess.endsBytesMax(Family.size(counters, arguments.anyKey(i)));
        }
      }
      return Math.clamp(bytes, 0, Integer.MAX_VALUE);
    }
    return CounterAccess.bytesMax(changes, length);
  }

  /** Returns whether the command accepts this number of words. */
  public boolean takes(int words) {
    return arity >= 0 ? words == arity : words >= -arity;
  }

  boolean isWrite() {
    return access == Access.WRITE;
  }

  /** Returns the entry of {@code COMMAND INFO}. */
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

  /** Returns the entry of {@code COMMAND DOCS}. */
  Reply docs() {
    return new Reply.Pairs(
        List.of(
            Reply.bulk("summary"),
            Reply.bulk(summary),
            Reply.bulk("group"),
            Reply.bulk(access == Access.NONE ? "connection" : "counters")));
  }
}
