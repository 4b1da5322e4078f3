package dev.quipu.server.resp;

import dev.quipu.engine.CounterTurn;
import dev.quipu.engine.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** MULTI, EXEC and WATCH: several commands in one step, if what they depend on did not change. */
final class Transactions {
  private static final String ABORTED =
      "EXECABORT Transaction discarded because of previous errors.";

  private Transactions() {}

  /** EXEC, on its way through the engine. */
  static final class Exec implements Operation {
    private final Session session;
    private final Optional<List<CounterCall>> calls;
    private Reply reply = Replies.NULL_ARRAY;

    /**
     * Of a session.
     *
     * @param calls the commands; empty if one of them was wrong
     */
    Exec(Session session, Optional<List<CounterCall>> calls) {
      this.session = session;
      this.calls = calls;
    }

    Reply reply() {
      return reply;
    }

    @Override
    public int changesMax() {
      return calls.stream().flatMap(List::stream).mapToInt(CounterCall::changesMax).sum();
    }

    @Override
    public int namesLength() {
      return calls.stream().flatMap(List::stream).mapToInt(CounterCall::namesLength).sum();
    }

    @Override
    public void on(CounterTurn turn) {
      boolean isUnchanged = session.unwatch(turn);
      if (calls.isEmpty()) {
        reply = new Reply.Failure(ABORTED);
      } else if (isUnchanged) {
        List<Reply> replies = new ArrayList<>();
        for (CounterCall call : calls.get()) {
          replies.add(call.answer(turn));
        }
        reply = new Reply.Several(replies);
      }
    }

    @Override
    public void failed(RuntimeException why) {
      reply = new Reply.Failure("ERR " + why.getMessage());
    }
  }

  /** Starts to watch, or ends it, on a turn; an answer goes with it. */
  static final class Watching implements Operation {
    private final Session session;
    private final List<String> counters;

    /** Watches these too; none for an end of all watching. */
    Watching(Session session, List<String> counters) {
      this.session = session;
      this.counters = counters;
    }

    @Override
    public int changesMax() {
      return 0;
    }

    @Override
    public int namesLength() {
      return 0;
    }

    @Override
    public void on(CounterTurn turn) {
      if (counters.isEmpty()) {
        session.unwatch(turn);
      }
      counters.forEach(counter -> session.watch(turn, counter));
    }

    /** Nobody is told: what is not watched fails no transaction. */
    @Override
    public void failed(RuntimeException why) {}
  }
}
