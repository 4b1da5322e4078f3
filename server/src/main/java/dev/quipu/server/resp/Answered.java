package dev.quipu.server.resp;

import dev.quipu.engine.CounterTurn;
import dev.quipu.server.net.Step;
import dev.quipu.server.resp.Arguments.Refused;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import io.netty.buffer.ByteBuf;

/**
 * A command, on its way to its answer.
 *
 * @param protocol that was spoken when it came: 2 or 3
 */
record Answered(Later later, int protocol) implements Step {
  /** A command that is done. */
  static Answered now(Reply reply, int protocol) {
    return new Answered(turn -> reply, protocol);
  }

  @Override
  public int bytesMax(CounterTurn turn) {
    return later.bytesMax(turn);
  }

  @Override
  public void run(CounterTurn turn, ByteBuf out) {
    Reply reply = reply(later, turn);
    if (later.isDone()) {
      reply.write(out, protocol);
    }
  }

  @Override
  public boolean isDone() {
    return later.isDone();
  }

  @Override
  public void failed(RuntimeException why, ByteBuf out) {
    failure(why).write(out, protocol);
  }

  /** Does it; what it throws is the answer. */
  static Reply reply(Later later, CounterTurn turn) {
    try {
      return later.on(turn);
    } catch (RuntimeException e) {
      return failure(e);
    }
  }

  /** The answer of what ended so. */
  static Reply failure(RuntimeException why) {
    return switch (why) {
      case Refused refused -> new Reply.Failure(String.valueOf(why.getMessage()));
      case StoreException store -> new Reply.Failure(code(store) + " " + why.getMessage());
      case IllegalArgumentException wrong -> new Reply.Failure("ERR " + why.getMessage());
      default -> new Reply.Failure("ERR internal error: " + why);
    };
  }

  private static String code(StoreException why) {
    return switch (why.outcome()) {
      case UNKNOWN -> "UNKNOWN";
      case NOT_APPLIED -> why.reason() == Reason.FULL ? "OOM" : "ERR";
    };
  }
}
