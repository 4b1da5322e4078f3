package dev.quipu.server.resp;

import dev.quipu.engine.CounterTurn;
import dev.quipu.engine.Operation;
import dev.quipu.server.resp.RespCommand.OnCounters;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;

/** One command on counters, on its way through the engine, and its answer. */
final class CounterCall implements Operation {
  private final OnCounters command;
  private final Arguments arguments;
  private Reply reply = Replies.NULL;

  CounterCall(OnCounters command, Arguments arguments) {
    this.command = command;
    this.arguments = arguments;
  }

  Reply reply() {
    return reply;
  }

  /** The answer of a call that nobody knows the outcome of. */
  static Reply failure(StoreException why) {
    String code =
        switch (why.outcome()) {
          case UNKNOWN -> "UNKNOWN";
          case NOT_APPLIED -> why.reason() == Reason.FULL ? "OOM" : "ERR";
        };
    return new Reply.Failure(code + " " + why.getMessage());
  }

  @Override
  public int changesMax() {
    return arguments.size();
  }

  @Override
  public int namesLength() {
    int length = 0;
    for (int i = 1; i < arguments.size(); i++) {
      length += arguments.bytes(i).length;
    }
    return length;
  }

  @Override
  public void on(CounterTurn turn) {
    reply = command.run(turn, arguments);
  }

  /** As {@link #on}, with what it throws in the answer. */
  Reply answer(CounterTurn turn) {
    try {
      on(turn);
    } catch (RuntimeException e) {
      failed(e);
    }
    return reply;
  }

  @Override
  public void failed(RuntimeException why) {
    reply =
        switch (why) {
          case Arguments.Refused refused -> new Reply.Failure(String.valueOf(why.getMessage()));
          case StoreException store -> failure(store);
          case IllegalArgumentException wrong -> new Reply.Failure("ERR " + why.getMessage());
          default -> new Reply.Failure("ERR internal error: " + why);
        };
  }
}
