package dev.quipu.server.resp;

import dev.quipu.server.protocol.Batch;
import dev.quipu.server.protocol.CommandDecoder;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.resp.command.CounterCall;
import dev.quipu.server.resp.command.RespCommand;
import dev.quipu.server.resp.command.RespCommands;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.NamedCommand;
import dev.quipu.server.resp.key.RespPendingCommand;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.session.SharedState;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import dev.quipu.server.resp.wire.RespParser;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Decodes the Redis protocol on one connection. */
final class RespDecoder implements CommandDecoder {
  /** Commands that are allowed before authentication. */
  private static final Set<String> UNAUTHENTICATED = Set.of("auth", "hello", "quit", "reset");

  /** Commands that a transaction does not queue. */
  private static final Set<String> NOT_QUEUED =
      Set.of("multi", "exec", "discard", "watch", "quit", "reset");

  /** Commands that match patterns, which may take long. */
  private static final Set<String> PATTERNS = Set.of("keys", "scan", "config");

  /** Number of words from which any command may delay others. */
  private static final int WORDS_MANY = 4_096;

  /** Memory overhead of a queued command. */
  private static final int QUEUED_OVERHEAD_BYTES = 128;

  private static final Set<String> SCRIPTS =
      Set.of("EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "SCRIPT", "FCALL", "FCALL_RO", "FUNCTION");

  private final SharedState shared;
  private final Session session;
  private final RespParser parser = new RespParser();
  private final FastPath fast;

  RespDecoder(SharedState shared, String remote, ConnectionMemory memory) {
    this.shared = shared;
    this.session = shared.open(remote, memory);
    this.fast = new FastPath(memory);
  }

  @Override
  public boolean isError(ByteBuf replies, int at) {
    return replies.writerIndex() > at && replies.getByte(at) == '-';
  }

  @Override
  public boolean isEnding() {
    return session.isEnding;
  }

  @Override
  public boolean hasPartialCommand() {
    return !parser.isBetween();
  }

  @Override
  public long heldBytes() {
    return parser.heldBytes();
  }

  @Override
  public long keptBytes() {
    return fast.commands().heldBytes();
  }

  @Override
  public void answered() {
    fast.commands().answered();
  }

  @Override
  public void trim() {
    fast.commands().trim();
  }

  @Override
  public void outOfMemory(Batch batch) {
    end(batch, Session.OUT_OF_MEMORY.formatted("command"));
  }

  @Override
  public void closed(Batch last) {
    shared.close(session);
    if (session.hasWatched) { // a WATCH may still wait for its commit
      last.add(
          answered(
              "unwatch",
              counters -> {
                session.unwatch(counters);
                return Replies.OK;
              }));
    }
  }

  private RespPendingCommand answered(String command, DeferredCommand deferred) {
    return new RespPendingCommand(new NamedCommand(command, deferred), session.protocol);
  }

  /** Adds an error reply and ends the connection. */
  private void end(Batch batch, String why) {
    session.isEnding = true;
    batch.add(answered("", counters -> new Reply.Failure(why)));
  }

  @Override
  public boolean decode(ByteBuf in, Batch batch) {
    if (parser.isBetween()
        && session.isAuthenticated
        && !session.isQueueing()
        && fast.take(in, batch, session.protocol)) {
      session.commands++;
      return true;
    }
    List<byte[]> words;
    try {
      words = parser.next(in);
    } catch (RespParser.ProtocolException e) {
      end(batch, "ERR Protocol error: " + e.getMessage());
      return false;
    }
    if (words == null) {
      return false;
    }
    if (!words.isEmpty()) {
      session.commands++;
      Arguments arguments = new Arguments(words, session.memory(), session.protocol);
      // A transaction reserves the memory of its commands.
      if (!session.isQueueing() && !batch.tryHold(arguments.heldBytes())) {
        batch.add(
            new RespPendingCommand(
                rejected(Session.OUT_OF_MEMORY.formatted("command")), session.protocol));
        return true;
      }
      NamedCommand call = take(arguments);
      batch.takeOver(session.ended());
      if (isLikelyHeavy(call.command(), words.size())) {
        batch.expectHeavy();
      }
      batch.add(
          new RespPendingCommand(call, session.protocol)); // HELLO is answered in the new protocol
    }
    return true;
  }

  private boolean isLikelyHeavy(String command, int words) {
    boolean isLikely = words > WORDS_MANY || PATTERNS.contains(command);
    if (session.isQueueing()) {
      session.isTransactionHeavy |= isLikely;
    } else if (command.equals("exec")) {
      isLikely |= session.isTransactionHeavy;
      session.isTransactionHeavy = false;
    }
    return isLikely;
  }

  /** Returns whether a browser sends HTTP to this port, possibly as an attack. */
  private boolean isHttp(Arguments words) {
    return parser.isInline()
        && (words.word(0).equals("POST")
            || words.word(0).equals("HOST:")
            || (words.size() == 3 && words.text(2).startsWith("HTTP/")));
  }

  private NamedCommand take(Arguments words) {
    if (isHttp(words)) {
      session.isEnding = true;
      return new NamedCommand(
          "", counters -> new Reply.Failure("ERR this port serves the Redis protocol, not HTTP"));
    }
    Optional<RespCommand> found = RespCommands.find(words.text(0));
    if (found.isEmpty() && SCRIPTS.contains(words.word(0))) {
      // On "unknown command" for EVALSHA, Redisson would retry forever.
      return rejected("ERR scripts are not supported: " + words.word(0));
    }
    if (found.isEmpty()) {
      return rejected(unknown(words));
    }
    RespCommand command = found.get();
    session.lastCommand = command.name();
    if (!session.isAuthenticated && !UNAUTHENTICATED.contains(command.name())) {
      return rejected("NOAUTH Authentication required.");
    }
    if (!command.takes(words.size())) {
      return rejected("ERR wrong number of arguments for '%s' command".formatted(command.name()));
    }
    if (session.isQueueing() && !NOT_QUEUED.contains(command.name())) {
      NamedCommand call = new NamedCommand(command.name(), deferred(command, words));
      Reply reply = session.queue(call, words.heldBytes() + QUEUED_OVERHEAD_BYTES);
      return new NamedCommand(command.name(), counters -> reply);
    }
    return new NamedCommand(command.name(), deferred(command, words));
  }

  /** Rejects a command and fails the open transaction. */
  private NamedCommand rejected(String why) {
    session.spoil();
    return new NamedCommand("", counters -> new Reply.Failure(why));
  }

  private DeferredCommand deferred(RespCommand command, Arguments words) {
    try {
      return switch (command.handler()) {
        case RespCommand.OnEngine onEngine -> onEngine.begin(session, words);
        case RespCommand.OnCounters onCounters -> new CounterCall(command, words);
        case RespCommand.OnSession onSession when session.isQueueing() ->
            counters -> onSession.run(session, words);
        case RespCommand.OnSession onSession -> {
          Reply reply = onSession.run(session, words);
          yield counters -> reply;
        }
      };
    } catch (RuntimeException e) { // answered in order
      return counters -> {
        throw e;
      };
    }
  }

  private static String unknown(Arguments words) {
    StringBuilder text =
        new StringBuilder(
            "ERR unknown command '%.128s', with args beginning with: ".formatted(words.text(0)));
    for (int i = 1; i < words.size() && text.length() < 128; i++) {
      text.append("'%.128s' ".formatted(words.text(i)));
    }
    return text.toString();
  }
}
