package dev.quipu.server.resp.key;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.net.Incidents;
import dev.quipu.server.protocol.PendingCommand;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Reply;

/**
 * What is left of a command, and its name, for the log.
 *
 * @param command in lower case; never what a client sent
 */
public record NamedCommand(String command, DeferredCommand deferred) {
  public int bytesMax(CounterAccess turn) {
    return deferred.bytesMax(turn);
  }

  boolean isDone() {
    return deferred.isDone();
  }

  /** Does it; what it throws is the answer. */
  public Reply reply(CounterAccess turn) {
    long changes = turn.changeCount();
    try {
      return deferred.on(turn);
    } catch (RuntimeException e) {
      PendingCommand.requireWhole(turn, changes, e);
      return failure(turn.changeCount() == changes ? e : halfDone(e));
    }
  }

  private static RuntimeException halfDone(RuntimeException why) {
    return new OutcomeUnknownException(Reason.FULL, "a part was done: " + why.getMessage(), why);
  }

  /** Returns the answer of a command that ended so. */
  Reply failure(RuntimeException why) {
    return switch (why) {
      case Rejected rejected -> new Reply.Failure(String.valueOf(why.getMessage()));
      case QuipuException store -> new Reply.Failure(code(store) + " " + why.getMessage());
      case IllegalArgumentException wrong -> new Reply.Failure("ERR " + why.getMessage());
      default -> {
        Incidents.inCommand("Redis", command, why);
        yield new Reply.Failure("UNKNOWN internal error; see the log of the server");
      }
    };
  }

  private static String code(QuipuException why) {
    return switch (why.outcome()) {
      case UNKNOWN -> "UNKNOWN";
      case NOT_APPLIED -> why.reason() == Reason.FULL ? "OOM" : "ERR";
    };
  }
}
