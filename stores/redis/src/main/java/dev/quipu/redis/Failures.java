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

/** What an error of Redis or of its client says about the effect of a call. */
final class Failures {
  private static final int CAUSES_MAX = 100;

  private Failures() {}

  /**
   * A step of the script failed.
   *
   * @param isTorn whether steps before it were done
   */
  static QuipuException ofSteps(String why, boolean isTorn) {
    Outcome outcome = isTorn ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
    return QuipuException.of(outcome, reason(why), "Redis: " + why, null);
  }

  /**
   * An error as an answer means that nothing was done: the script checks all before it writes. So
   * does a command that was never sent.
   *
   * @param server where it is, as messages name it; empty if that is not known
   * @param lost what it means if there was no answer
   */
  static QuipuException of(Throwable e, String server, Outcome lost) {
    String message = named(server) + text(e);
    return switch (e) {
      case RedisConnectionException unconnected -> ofConnect(unconnected, lost);
      case RedisCommandExecutionException answer ->
          QuipuException.of(
              Outcome.NOT_APPLIED, reason(String.valueOf(answer.getMessage())), message, e);
      case RedisCommandTimeoutException late -> QuipuException.of(lost, Reason.TIMEOUT, message, e);
      default -> {
        Outcome outcome = message.contains("Commands are rejected") ? Outcome.NOT_APPLIED : lost;
        yield QuipuException.of(outcome, Reason.UNAVAILABLE, message, e);
      }
    };
  }

  /**
   * A connection could not be opened. The client's message names the address alone; what the server
   * answered to the handshake, or why there was none, is the cause of it.
   */
  static QuipuException ofConnect(RedisException e, Outcome lost) {
    String what = String.valueOf(e.getMessage()).replace("/<unresolved>", "");
    Throwable root = root(e);
    String why = text(root);
    Optional<String> remedy =
        root instanceof RedisCommandExecutionException ? remedy(why) : Optional.empty();
    Outcome outcome = what.contains("Unable to") || remedy.isPresent() ? Outcome.NOT_APPLIED : lost;
    return QuipuException.of(
        outcome,
        remedy.isPresent() ? Reason.DENIED : Reason.UNAVAILABLE,
        "Redis: "
            + what
            + (root.equals(e) ? "" : ": " + why)
            + remedy.map(text -> ". " + text).orElse(""),
        e);
  }

  /** What the message of a failure begins with. */
  static String named(String server) {
    return server.isEmpty() ? "Redis: " : "Redis %s: ".formatted(server);
  }

  /** A closed channel, for one, has no message. */
  private static String text(Throwable e) {
    if (e instanceof ClosedChannelException) {
      return "connection closed";
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  /** Whether the server answered that it does not let the user do this, or does not know it. */
  static boolean isRejection(QuipuException e) {
    return e.getCause() instanceof RedisCommandExecutionException answer
        && (e.reason() == Reason.DENIED || String.valueOf(answer.getMessage()).startsWith("ERR"));
  }

  /** The answer of a server if there is one, else the innermost cause. */
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
      open.addAll(List.of(next.getSuppressed())); // one for each node of a cluster
    }
    return innermost;
  }

  /** Which part of the URI is wrong, by the answer to the handshake. */
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
    return switch (message.split("[ :]", 2)[0]) {
      case "OOM" -> Reason.FULL;
      case "NOAUTH", "WRONGPASS", "NOPERM", "DENIED" -> Reason.DENIED;
      case "BUSY", "TRYAGAIN" -> Reason.THROTTLED;
      case "WRONGTYPE" -> Reason.CORRUPT; // something else under our keys
      default -> Reason.UNAVAILABLE; // LOADING, READONLY
    };
  }
}
