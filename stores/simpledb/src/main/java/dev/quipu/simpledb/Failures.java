package dev.quipu.simpledb;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;

/** What an error of SimpleDB, or of the way there, says about the effect of a call. */
final class Failures {
  private Failures() {}

  /** What a call came to that ended so. */
  static QuipuException of(Exception e, Outcome lost) {
    return switch (e) {
      case SimpleDbException answer -> of(answer, lost);
      case InterruptedException interrupted -> {
        Thread.currentThread().interrupt();
        yield QuipuException.of(lost, Reason.UNAVAILABLE, "SimpleDB: interrupted", e);
      }
      case IOException none -> of(none, lost);
      default -> throw new IllegalArgumentException("no failure of a call", e);
    };
  }

  /**
   * An answer of 4xx means that nothing was done; one of 5xx, or none at all, means nothing.
   *
   * @param lost what it means if there was no such answer
   */
  private static QuipuException of(SimpleDbException e, Outcome lost) {
    String message = "SimpleDB: " + e.getMessage();
    if (e.status() == 503) {
      return QuipuException.of(lost, Reason.THROTTLED, message, e);
    }
    if (e.status() == 408) {
      return QuipuException.of(lost, Reason.TIMEOUT, message, e);
    }
    if (e.status() >= 500 || e.status() < 400) {
      return QuipuException.of(lost, Reason.UNAVAILABLE, message, e);
    }
    Reason reason =
        switch (e.code()) {
          case "NumberDomainBytesExceeded",
              "NumberDomainAttributesExceeded",
              "NumberItemAttributesExceeded" ->
              Reason.FULL;
          case "RequestExpired" -> Reason.DENIED;
          case "NoSuchDomain", "NumberDomainsExceeded", "FeatureDeprecated" ->
              Reason.UNAVAILABLE; // no fault of what was sent
          default -> e.status() == 403 ? Reason.DENIED : Reason.INVALID;
        };
    return QuipuException.of(Outcome.NOT_APPLIED, reason, message, e);
  }

  /** No answer. */
  private static QuipuException of(IOException e, Outcome lost) {
    String message = "SimpleDB: " + e;
    return switch (e) {
      case ConnectException rejected -> notApplied(Reason.UNAVAILABLE, message, e);
      case NoRouteToHostException none -> notApplied(Reason.UNAVAILABLE, message, e);
      case UnknownHostException unknown -> notApplied(Reason.UNAVAILABLE, message, e);
      case ConnectTimeoutException late -> notApplied(Reason.TIMEOUT, message, e);
      case ConnectionRequestTimeoutException busy -> notApplied(Reason.TIMEOUT, message, e);
      case SocketTimeoutException late -> QuipuException.of(lost, Reason.TIMEOUT, message, e);
      default -> QuipuException.of(lost, Reason.UNAVAILABLE, message, e);
    };
  }

  /** It never had a connection. */
  private static QuipuException notApplied(Reason reason, String message, IOException e) {
    return QuipuException.of(Outcome.NOT_APPLIED, reason, message, e);
  }
}
