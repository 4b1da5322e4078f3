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
 * A deferred command with its name for the log.
 *
 * @param command name in lower case; never client data
 */
public record NamedCommand(String command, DeferredCommand deferred) {
  public int bytesMax(CounterAccess counters) {
    return deferred.bytesMax(counters);
  }

  void touch(CounterAccess counters) {
    deferred.touch(counters);
  }

  boolean isDone() {
    return deferred.isDone();
  }

  /** Runs the command; a failure becomes the reply. */
  public Reply reply(CounterAccess counters) {
    long changes = counters.changeCount();
    try {
      return deferred.run(counters);
    } catch (RuntimeException e) {
      PendingCommand.requireWhole(counters, changes, e);
      return failure(counters.changeCount() == changes ? e : halfDone(e));
    }
  }

  private static RuntimeException halfDone(RuntimeException why) {
    return new OutcomeUnknownException(Reason.FULL, "partially applied: " + why.getMessage(), why);
  }

  /** Returns the reply to a failed command. */
  Reply failure(RuntimeException why) {
    return switch (why) {
      case Rejected rejected -> new Reply.Failure(String.valueOf(why.getMessage()));
      case QuipuException store -> new Reply.Failure(code(store) + " " + why.getMessage());
      case IllegalArgumentException wrong -> new Reply.Failure("ERR " + why.getMessage());
      default -> {
        Incidents.inCommand("Redis", command, why);
        yield new Reply.Failure("UNKNOWN internal error; see the server log");
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
