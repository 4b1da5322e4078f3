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

/** MULTI, EXEC and WATCH: atomic execution of several commands with optimistic locking. */
final class Transactions {
  private static final String ABORTED =
      "EXECABORT Transaction discarded because of previous errors.";

  /** Number of names visited by a transaction before its reads are rejected. */
  private static final int NAMES_MAX = 1_000_000;

  private static final Reply TOO_LONG =
      new Reply.Failure(
          "ERR transaction visited more than %d names; read them outside of it"
              .formatted(NAMES_MAX));

  private Transactions() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("multi", "")
            .summary("Starts a transaction.")
            .onSession((session, words) -> session.begin()),
        RespCommand.of("exec", "")
            .summary("Executes all commands of a transaction.")
            .onEngine(Transactions::execute),
        RespCommand.of("discard", "")
            .summary("Discards a transaction.")
            .onEngine((session, words) -> {
              boolean isQueueing = session.isQueueing();
              Reply reply = session.discard();
              return isQueueing ? unwatch(session, reply) : counters -> reply;
            }),
        RespCommand.of("watch", "key [key ...]")
            .summary("Monitors keys: the next transaction executes only if they are unchanged.")
            .onEngine(Transactions::watch),
        RespCommand.of("unwatch", "")
            .summary("Forgets watched keys.")
            .onEngine((session, words) -> unwatch(session, Replies.OK)),
        RespCommand.of("reset", "")
            .summary("Resets the connection.")
            .onEngine((session, words) -> {
              session.reset();
              return unwatch(session, new Reply.Simple("RESET"));
            }));
  }

  private static DeferredCommand execute(Session session, Arguments words) {
    if (!session.isQueueing()) {
      return counters -> new Reply.Failure("ERR EXEC without MULTI");
    }
    return new Exec(session, words, session.end());
  }

  private static DeferredCommand watch(Session session, Arguments words) {
    if (session.isQueueing()) {
      return counters -> new Reply.Failure("ERR WATCH inside MULTI is not allowed");
    }
    List<String> keys = new ArrayList<>();
    for (int i = 1; i < words.size(); i++) {
      keys.add(words.key(i));
    }
    session.hasWatched = true;
    return counters -> session.watch(counters, keys);
  }

  private static DeferredCommand unwatch(Session session, Reply reply) {
    return counters -> {
      session.unwatch(counters);
      return reply;
    };
  }

  /**
   * EXEC.
   *
   * @param calls the commands; empty if one of them was rejected
   */
  private record Exec(Session session, Arguments words, Optional<List<NamedCommand>> calls)
      implements DeferredCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      long sum =
          calls.stream().flatMap(List::stream).mapToLong(call -> call.bytesMax(counters)).sum();
      return (int) Math.min(sum, Integer.MAX_VALUE);
    }

    @Override
    public Reply run(CounterAccess counters) {
      boolean isUnchanged = session.unwatch(counters);
      if (calls.isEmpty()) {
        return new Reply.Failure(ABORTED);
      }
      if (!isUnchanged) {
        return Replies.NULL_ARRAY;
      }
      Collected replies = new Collected(words);
      long visited = counters.visited();
      for (NamedCommand call : calls.get()) {
        boolean isLong = counters.visited() - visited > NAMES_MAX && call.bytesMax(counters) == 0;
        replies.addDone(isLong ? TOO_LONG : call.reply(counters));
      }
      return replies.array();
    }
  }
}
