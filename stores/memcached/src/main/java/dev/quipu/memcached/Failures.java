package dev.quipu.memcached;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import net.rubyeye.xmemcached.exception.MemcachedClientException;
import net.rubyeye.xmemcached.exception.MemcachedException;
import net.rubyeye.xmemcached.exception.MemcachedServerException;

/** Maps errors of memcached and of its client to exceptions that state the effect of a call. */
final class Failures {
  private Failures() {}

  private static final String NON_NUMERIC = "non-numeric";

  /** Returns whether {@code incr} found a value that is not digits. */
  static boolean isNotANumber(QuipuException e) {
    return e.reason() == Reason.INVALID && message(e).contains(NON_NUMERIC);
  }

  /** Returns whether {@code incr} found nothing. */
  static boolean isMiss(QuipuException e) {
    return e.getCause() instanceof MemcachedException cause
        && answer(cause) instanceof CountCommand.Miss;
  }

  /**
   * Returns the exception for a failed call. Memcached replies with an error before it changes
   * anything.
   *
   * @param where the addresses of the servers, or the name of a client that was handed in
   * @param lost the outcome if there was no reply
   */
  static QuipuException of(Exception e, String where, Outcome lost) {
    String text = ": " + message(e);
    boolean isClosed = text.contains(": Session(");
    boolean isUnconnected = text.contains("no available connection");
    String what =
        isClosed
            ? "connection closed. Check that the server is running"
            : isUnconnected ? "not connected. Check that the server is running" : message(e);
    String message = "memcached (%s): %s".formatted(where, what);
    return switch (answer(e)) {
      case TimeoutException late ->
          QuipuException.of(
              lost,
              Reason.TIMEOUT,
              message + ". Check the server, or raise 'timeoutMillis' in the store's URI",
              e);
      case InterruptedException interrupted -> {
        Thread.currentThread().interrupt();
        yield QuipuException.of(
            lost,
            Reason.UNAVAILABLE,
            "memcached (%s): interrupted while waiting for a reply".formatted(where),
            e);
      }
      case MemcachedServerException full when message.contains("out of memory") ->
          new NotAppliedException(Reason.FULL, message, e);
      case MemcachedServerException answer ->
          new NotAppliedException(Reason.UNAVAILABLE, message, e);
      case MemcachedClientException answer ->
          new NotAppliedException(
              message.contains(NON_NUMERIC) ? Reason.INVALID : Reason.UNAVAILABLE, message, e);
      default -> {
        boolean neverSent = isClosed || isUnconnected;
        yield QuipuException.of(
            neverSent ? Outcome.NOT_APPLIED : lost, Reason.UNAVAILABLE, message, e);
      }
    };
  }

  /** Returns the error reply if there is one: the client may wrap it. */
  private static Throwable answer(Exception e) {
    return e instanceof MemcachedException && e.getCause() instanceof MemcachedException inner
        ? inner
        : e;
  }

  private static String message(Exception e) {
    return Objects.requireNonNullElse(e.getMessage(), "the call failed");
  }
}
