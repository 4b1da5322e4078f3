package dev.quipu.redis;

import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import java.util.Locale;

/** What an error of Redis or of its client says about the effect of a call. */
final class Failures {
  private Failures() {}

  static StoreException ofRead(Throwable e) {
    return of(e, Outcome.NOT_APPLIED);
  }

  /**
   * A step of the script failed.
   *
   * @param isTorn whether steps before it were done
   */
  static StoreException ofSteps(String why, boolean isTorn) {
    Outcome outcome = isTorn ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
    return new StoreException(outcome, reason(why), "Redis: " + why, null);
  }

  /**
   * An error as an answer means that nothing was done: the script checks all before it writes. So
   * does a command that was never sent.
   *
   * @param lost what it means if there was no answer
   */
  static StoreException of(Throwable e, Outcome lost) {
    String message = "Redis: " + e.getMessage();
    return switch (e) {
      case RedisCommandExecutionException answer ->
          new StoreException(
              Outcome.NOT_APPLIED, reason(String.valueOf(answer.getMessage())), message, e);
      case RedisCommandTimeoutException late ->
          new StoreException(lost, Reason.TIMEOUT, message, e);
      default -> {
        boolean neverSent =
            (e instanceof RedisConnectionException && message.contains("Unable to"))
                || message.contains("Commands are rejected");
        Outcome outcome = neverSent ? Outcome.NOT_APPLIED : lost;
        yield new StoreException(outcome, Reason.UNAVAILABLE, message, e);
      }
    };
  }

  private static Reason reason(String answer) {
    String message = answer.toUpperCase(Locale.ROOT);
    return switch (message.split("[ :]", 2)[0]) {
      case "OOM" -> Reason.FULL;
      case "NOAUTH", "WRONGPASS", "NOPERM", "DENIED" -> Reason.DENIED;
      case "BUSY", "TRYAGAIN" -> Reason.THROTTLED;
      case "WRONGTYPE" -> Reason.CORRUPT; // something else under our keys
      default -> Reason.UNAVAILABLE; // LOADING, READONLY
    };
  }
}
