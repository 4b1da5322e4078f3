package dev.quipu.server.resp;

import dev.quipu.server.net.Batch;
import dev.quipu.server.net.ConnectionMemory;
import dev.quipu.server.net.Front;
import dev.quipu.server.resp.command.CounterCall;
import dev.quipu.server.resp.command.RespCommand;
import dev.quipu.server.resp.command.RespCommands;
import dev.quipu.server.resp.key.Answered;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Named;
import dev.quipu.server.resp.session.Hub;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.wire.Later;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import dev.quipu.server.resp.wire.Wire;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The Redis protocol on one connection. */
final class RespFront implements Front {
  /** What is answered before the token was shown. */
  private static final Set<String> FOR_STRANGERS = Set.of("auth", "hello", "quit", "reset");

  /** What a transaction does not put off. */
  private static final Set<String> AT_ONCE =
      Set.of("multi", "exec", "discard", "watch", "quit", "reset");

  /** What compares patterns, which may take long. */
  private static final Set<String> PATTERNS = Set.of("keys", "scan", "config");

  /** Words of a command that may keep others waiting whatever it does. */
  private static final int WORDS_MANY = 4_096;

  /** What a command of a transaction holds besides its words. */
  private static final int QUEUED_OVERHEAD_BYTES = 128;

  private static final Set<String> SCRIPTS =
      Set.of("EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "SCRIPT", "FCALL", "FCALL_RO", "FUNCTION");

  private final Hub hub;
  private final Session session;
  private final Wire wire = new Wire();
  private final HotPath hot;

  RespFront(Hub hub, String remote, ConnectionMemory memory) {
    this.hub = hub;
    this.session = hub.open(remote, memory);
    this.hot = new HotPath(memory);
  }

  @Override
  public boolean isEnding() {
    return session.isEnding;
  }

  @Override
  public boolean isWithin() {
    return !wire.isBetween();
  }

  @Override
  public long heldBytes() {
    return wire.heldBytes();
  }

  @Override
  public long keptBytes() {
    return hot.steps().heldBytes();
  }

  @Override
  public void answered() {
    hot.steps().answered();
  }

  @Override
  public void trim() {
    hot.steps().trim();
  }

  @Override
  public void outOfMemory(Batch batch) {
    end(batch, Session.OUT_OF_MEMORY.formatted("command"));
  }

  @Override
  public void closed(Batch last) {
    hub.close(session);
    if (session.hasWatched) { // also if a WATCH is still on its way to its turn
      last.add(
          answered(
              "unwatch",
              turn -> {
                session.unwatch(turn);
                return Replies.OK;
              }));
    }
  }

  private Answered answered(String command, Later later) {
    return new Answered(new Named(command, later), session.protocol);
  }

  /** Answers an error after which nothing can be trusted, or nothing more is done. */
  private void end(Batch batch, String why) {
    session.isEnding = true;
    batch.add(answered("", turn -> new Reply.Failure(why)));
  }

  @Override
  public boolean next(ByteBuf in, Batch batch) {
    if (wire.isBetween()
        && session.isKnown
        && !session.isQueueing()
        && hot.take(in, batch, session.protocol)) {
      session.commands++;
      return true;
    }
    List<byte[]> words;
    try {
      words = wire.next(in);
    } catch (Wire.ProtocolException e) {
      end(batch, "ERR Protocol error: " + e.getMessage());
      return false;
    }
    if (words == null) {
      return false;
    }
    if (!words.isEmpty()) {
      session.commands++;
      Arguments arguments = new Arguments(words, session.memory(), session.protocol);
      long held = arguments.heldBytes();
      boolean isLarge =
          held > Batch.COMMAND_BYTES_FREE && !session.isQueueing(); // a transaction counts its own
      if (isLarge && !batch.tryHold(held)) {
        batch.add(
            new Answered(refused(Session.OUT_OF_MEMORY.formatted("command")), session.protocol));
        return true;
      }
      Named call = take(arguments);
      batch.takeOver(session.ended());
      if (isLikelyHeavy(call.command(), words.size())) {
        batch.expectHeavy();
      }
      batch.add(new Answered(call, session.protocol)); // the answer to HELLO is in the new one
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

  /** A page in a browser talks HTTP to this port, or means to do harm. */
  private boolean isHttp(Arguments words) {
    return wire.isInline()
        && (words.word(0).equals("POST")
            || words.word(0).equals("HOST:")
            || (words.size() == 3 && words.text(2).startsWith("HTTP/")));
  }

  private Named take(Arguments words) {
    if (isHttp(words)) {
      session.isEnding = true;
      return new Named("", turn -> new Reply.Failure("ERR this port speaks Redis, not HTTP"));
    }
    Optional<RespCommand> found = RespCommands.find(words.text(0));
    if (found.isEmpty() && SCRIPTS.contains(words.word(0))) {
      // Told that EVALSHA is unknown, Redisson would ask again without end.
      return refused("ERR no scripts are run here: " + words.word(0));
    }
    if (found.isEmpty()) {
      return refused(unknown(words));
    }
    RespCommand command = found.get();
    session.lastCommand = command.name();
    if (!session.isKnown && !FOR_STRANGERS.contains(command.name())) {
      return refused("NOAUTH Authentication required.");
    }
    if (!command.takes(words.size())) {
      return refused("ERR wrong number of arguments for '%s' command".formatted(command.name()));
    }
    if (session.isQueueing() && !AT_ONCE.contains(command.name())) {
      Named call = new Named(command.name(), later(command, words));
      Reply reply = session.queue(call, words.heldBytes() + QUEUED_OVERHEAD_BYTES);
      return new Named(command.name(), turn -> reply);
    }
    return new Named(command.name(), later(command, words));
  }

  /** What spoils a transaction that is being put together. */
  private Named refused(String why) {
    session.spoil();
    return new Named("", turn -> new Reply.Failure(why));
  }

  private Later later(RespCommand command, Arguments words) {
    try {
      RespCommand.OnTurn onTurn = command.onTurn();
      if (onTurn != null) {
        return onTurn.begin(session, words);
      }
      RespCommand.OnSession onSession = command.onSession();
      if (onSession == null) {
        return new CounterCall(command, words);
      }
      if (session.isQueueing()) {
        return turn -> onSession.run(session, words);
      }
      Reply reply = onSession.run(session, words);
      return turn -> reply;
    } catch (RuntimeException e) { // answered in its place
      return turn -> {
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
