package dev.quipu.redis;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Maps errors of Redis and of its client to exceptions that state the effect of a call.
 *
 * @param where the addresses of the servers; empty if the client was handed in
 */
record Failures(String where) {
  private static final int CAUSES_MAX = 100;
  private static final String CHECK_SERVER =
      "Check that the server is running and that the store's URI names its address";

  /**
   * Returns the exception for a failed step of the script.
   *
   * @param isTorn whether earlier steps were executed
   */
  QuipuException ofSteps(String why, boolean isTorn) {
    Outcome outcome = isTorn ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
    return failure(outcome, reason(why), why, null);
  }

  /**
   * Returns the exception for a failed call. An error reply means that nothing was applied, since
   * the script checks everything before it writes; so does a command that was never sent.
   *
   * @param lost the outcome if there was no reply
   */
  QuipuException of(Throwable e, Outcome lost) {
    String message = text(e);
    return switch (e) {
      case RedisConnectionException unconnected -> ofConnect(unconnected, lost);
      case RedisCommandExecutionException answer ->
          failure(Outcome.NOT_APPLIED, reason(message), message, e);
      case RedisCommandTimeoutException late -> failure(lost, Reason.TIMEOUT, message, e);
      default -> {
        Outcome outcome = message.contains("Commands are rejected") ? Outcome.NOT_APPLIED : lost;
        yield failure(outcome, Reason.UNAVAILABLE, message + ". " + CHECK_SERVER, e);
      }
    };
  }

  /**
   * Returns the exception for a connection that could not be opened or was lost. The client's
   * message contains only the address; the reply to the handshake is among its causes.
   */
  QuipuException ofConnect(RedisException e, Outcome lost) {
    String what = text(e);
    Throwable root = root(e);
    String why = text(root);
    Optional<String> remedy =
        root instanceof RedisCommandExecutionException ? remedy(why) : Optional.empty();
    Outcome outcome = what.contains("Unable to") || remedy.isPresent() ? Outcome.NOT_APPLIED : lost;
    boolean isUnopened = what.startsWith("Unable to") || what.startsWith("Cannot ");
    return failure(
        outcome,
        remedy.isPresent() ? Reason.DENIED : Reason.UNAVAILABLE,
        (isUnopened && !where.isEmpty() ? "cannot connect" : what)
            + (root.equals(e) ? "" : ": " + why)
            + ". "
            + remedy.orElse(CHECK_SERVER),
        e);
  }

  QuipuException failure(Outcome outcome, Reason reason, String what, @Nullable Throwable e) {
    String server = where.isEmpty() ? "Redis: " : "Redis (" + where + "): ";
    return QuipuException.of(outcome, reason, server + what, e);
  }

  /** Returns the message of an error, without marks of the client and of the script, and a stop. */
  private static String text(Throwable e) {
    String message = e.getMessage();
    if (message == null || message.isBlank()) {
      return e instanceof ClosedChannelException ? "connection closed" : "connection failed";
    }
    return message
        .replace("/<unresolved>", "")
        .replaceFirst(" script: \\S+, on \\S+$", "")
        .replaceFirst("\\.+$", "")
        .replaceFirst("^\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: ", "");
  }

  /** Returns whether the server replied that the user may not do this, or does not know it. */
  static boolean isRejection(QuipuException e) {
    return e.getCause() instanceof RedisCommandExecutionException reply
        && (e.reason() == Reason.DENIED || String.valueOf(reply.getMessage()).startsWith("ERR"));
  }

  /** Returns the error reply of a server if there is one, otherwise the innermost cause. */
  private static Throwable root(Throwable e) {
    Throwable innermost = e;
    Deque<Throwable> open = new ArrayDeque<>(List.of(e));
    for (int i = 0; i < CAUSES_MAX && !open.isEmpty(); i++) {
      Throwable next = open.removeFirst();
      if (next instanceof RedisCommandExecutionException) {
        return next;
      }
      Throwable cause = next.getCause();
      if (cause != null) {
        innermost = next.equals(innermost) ? cause : innermost;
        open.addLast(cause);
      }
      open.addAll(List.of(next.getSuppressed())); // one per node of a cluster
    }
    return innermost;
  }

  /** Returns which part of the URI to check, by the reply to the handshake. */
  private static Optional<String> remedy(String answer) {
    String upper = answer.toUpperCase(Locale.ROOT);
    if (upper.startsWith("NOAUTH")) {
      return Optional.of(
          "The server requires a password: write redis://USER:PASSWORD@HOST:PORT as the store's"
              + " URI");
    }
    if (upper.startsWith("WRONGPASS") || upper.startsWith("NOPERM") || upper.contains("AUTH")) {
      return Optional.of("Check the user and the password in the store's URI");
    }
    return upper.contains("DB INDEX") || upper.contains("SELECT")
        ? Optional.of("Check the database, the number after HOST:PORT/ in the store's URI")
        : Optional.empty();
  }

  private static Reason reason(String answer) {
    String message = answer.toUpperCase(Locale.ROOT);
    if (message.contains("CAN'T RUN THIS COMMAND")) { // in a script
      return Reason.DENIED;
    }
    return switch (message.split("[ :]", 2)[0]) {
      case "OOM" -> Reason.FULL;
      case "NOAUTH", "WRONGPASS", "NOPERM", "DENIED" -> Reason.DENIED;
      case "BUSY", "TRYAGAIN" -> Reason.THROTTLED;
      case "WRONGTYPE" -> Reason.CORRUPT; // another type at a key of the driver
      default -> Reason.UNAVAILABLE; // LOADING, READONLY
    };
  }
}
