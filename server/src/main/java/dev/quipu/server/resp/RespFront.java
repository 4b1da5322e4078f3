package dev.quipu.server.resp;

import dev.quipu.server.net.Batch;
import dev.quipu.server.net.Front;
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

  private static final Set<String> SCRIPTS =
      Set.of("EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "SCRIPT", "FCALL", "FCALL_RO", "FUNCTION");

  private final Hub hub;
  private final Session session;
  private final Wire wire = new Wire();
  private final HotPath hot = new HotPath();

  RespFront(Hub hub, String remote) {
    this.hub = hub;
    this.session = hub.open(remote);
  }

  @Override
  public boolean isEnding() {
    return session.isEnding;
  }

  @Override
  public void closed(Batch last) {
    hub.close(session);
    if (!session.watched().isEmpty()) {
      last.add(
          new Answered(
              turn -> {
                session.unwatch(turn);
                return Replies.OK;
              },
              session.protocol));
    }
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
      session.isEnding = true;
      batch.add(now(new Reply.Failure("ERR Protocol error: " + e.getMessage())));
      return false;
    }
    if (words == null) {
      return false;
    }
    if (!words.isEmpty()) {
      session.commands++;
      Later later = take(new Arguments(words));
      batch.add(new Answered(later, session.protocol)); // the answer to HELLO is in the new one
    }
    return true;
  }

  private Answered now(Reply reply) {
    return Answered.now(reply, session.protocol);
  }

  private Later take(Arguments words) {
    Optional<RespCommand> found = RespCommands.find(words.text(0));
    if (found.isEmpty() && words.word(0).matches("POST|HOST:")) {
      session.isEnding = true; // a page in a browser talks HTTP to this port, or means to do harm
      return turn -> new Reply.Failure("ERR this port speaks Redis, not HTTP");
    }
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
      Reply reply = session.queue(later(command, words));
      return turn -> reply;
    }
    return later(command, words);
  }

  /** What spoils a transaction that is being put together. */
  private Later refused(String why) {
    session.spoil();
    return turn -> new Reply.Failure(why);
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
    } catch (Arguments.Refused e) {
      String why = String.valueOf(e.getMessage());
      return turn -> new Reply.Failure(why);
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
