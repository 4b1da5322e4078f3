package dev.quipu.memcached;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.util.concurrent.TimeoutException;
import net.rubyeye.xmemcached.exception.MemcachedClientException;
import net.rubyeye.xmemcached.exception.MemcachedException;
import net.rubyeye.xmemcached.exception.MemcachedServerException;

/** What an error of memcached or of its client says about the effect of a call. */
final class Failures {
  private Failures() {}

  private static final String NON_NUMERIC = "non-numeric";

  /** Whether {@code incr} found something else than digits. */
  static boolean isNotANumber(QuipuException e) {
    return e.reason() == Reason.INVALID && message(e).contains(NON_NUMERIC);
  }

  /** Whether {@code incr} found nothing. */
  static boolean isMiss(QuipuException e) {
    return e.getCause() instanceof MemcachedException told
        && answer(told) instanceof CountCommand.Miss;
  }

  /**
   * Memcached answers with an error before it changes anything.
   *
   * @param lost what it means if there was no answer
   */
  static QuipuException of(Exception e, Outcome lost) {
    String message = "memcached: " + message(e);
    return switch (answer(e)) {
      case TimeoutException late -> QuipuException.of(lost, Reason.TIMEOUT, message, e);
      case InterruptedException interrupted -> {
        Thread.currentThread().interrupt();
        yield QuipuException.of(lost, Reason.UNAVAILABLE, "memcached: interrupted", e);
      }
      case MemcachedServerException full when message.contains("out of memory") ->
          QuipuException.of(Outcome.NOT_APPLIED, Reason.FULL, message, e);
      case MemcachedServerException answer ->
          QuipuException.of(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, message, e);
      case MemcachedClientException answer ->
          QuipuException.of(
              Outcome.NOT_APPLIED,
              message.contains(NON_NUMERIC) ? Reason.INVALID : Reason.UNAVAILABLE,
              message,
              e);
      default -> {
        boolean neverSent =
            message.contains("no available connection") || message.contains(": Session(");
        yield QuipuException.of(
            neverSent ? Outcome.NOT_APPLIED : lost, Reason.UNAVAILABLE, message, e);
      }
    };
  }

  /** The client wraps an error that came as an answer, or not. */
  private static Throwable answer(Exception e) {
    return e instanceof MemcachedException && e.getCause() instanceof MemcachedException inner
        ? inner
        : e;
  }

  private static String message(Exception e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
