package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.NamedCommand;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** MULTI, EXEC and WATCH: several commands in one step, if what they depend on did not change. */
final class Transactions {
  private static final String ABORTED =
      "EXECABORT Transaction discarded because of previous errors.";

  /** Names that the commands of a transaction look at, together, before reads are rejected. */
  private static final int NAMES_MAX = 1_000_000;

  private static final Reply TOO_LONG =
      new Reply.Failure(
          "ERR transaction looked at more than %d names; read them outside of it"
              .formatted(NAMES_MAX));

  private Transactions() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("multi", "")
            .summary("Begins a transaction.")
            .arity(1)
            .onSession((session, words) -> session.begin()),
        RespCommand.of("exec", "")
            .summary("Does a transaction.")
            .arity(1)
            .onTurn(Transactions::execute),
        RespCommand.of("discard", "")
            .summary("Gives a transaction up.")
            .arity(1)
            .onTurn((session, words) -> {
              boolean isQueueing = session.isQueueing();
              Reply reply = session.discard();
              return isQueueing ? unwatch(session, reply) : turn -> reply;
            }),
        RespCommand.of("watch", "key [key ...]")
            .summary("Does a transaction only if these did not change.")
            .arity(-2)
            .onTurn(Transactions::watch),
        RespCommand.of("unwatch", "")
            .summary("Watches nothing.")
            .arity(1)
            .onTurn((session, words) -> unwatch(session, Replies.OK)),
        RespCommand.of("reset", "")
            .summary("Makes the connection as new.")
            .arity(1)
            .onTurn((session, words) -> {
              session.reset();
              return unwatch(session, new Reply.Simple("RESET"));
            }));
  }

  private static DeferredCommand execute(Session session, Arguments words) {
    if (!session.isQueueing()) {
      return turn -> new Reply.Failure("ERR EXEC without MULTI");
    }
    return new Exec(session, words, session.end());
  }

  private static DeferredCommand watch(Session session, Arguments words) {
    if (session.isQueueing()) {
      return turn -> new Reply.Failure("ERR WATCH inside MULTI is not allowed");
    }
    List<String> counters = new ArrayList<>();
    for (int i = 1; i < words.size(); i++) {
      counters.add(words.key(i));
    }
    session.hasWatched = true;
    return turn -> session.watch(turn, counters);
  }

  private static DeferredCommand unwatch(Session session, Reply reply) {
    return turn -> {
      session.unwatch(turn);
      return reply;
    };
  }

  /**
   * EXEC.
   *
   * @param calls the commands; empty if one of them was wrong
   */
  private record Exec(Session session, Arguments words, Optional<List<NamedCommand>> calls)
      implements DeferredCommand {
    @Override
    public int bytesMax(CounterAccess turn) {
      long sum = calls.stream().flatMap(List::stream).mapToLong(call -> call.bytesMax(turn)).sum();
      return (int) Math.min(sum, Integer.MAX_VALUE);
    }

    @Override
    public Reply on(CounterAccess turn) {
      boolean isUnchanged = session.unwatch(turn);
      if (calls.isEmpty()) {
        return new Reply.Failure(ABORTED);
      }
      if (!isUnchanged) {
        return Replies.NULL_ARRAY;
      }
      Collected replies = new Collected(words);
      long visited = turn.visited();
      for (NamedCommand call : calls.get()) {
        boolean isLong = turn.visited() - visited > NAMES_MAX && call.bytesMax(turn) == 0;
        replies.addDone(isLong ? TOO_LONG : call.reply(turn));
      }
      return replies.array();
    }
  }
}
