package dev.quipu.simpledb;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;

/** Maps errors of SimpleDB and of its connections to exceptions that state the effect of a call. */
final class Failures {
  private Failures() {}

  /**
   * Returns the exception for a failed call.
   *
   * @param lost the outcome if it is unknown whether the call was executed
   */
  static QuipuException of(Exception e, URI endpoint, Outcome lost) {
    String server = "SimpleDB (" + endpoint.getRawAuthority() + "): ";
    return switch (e) {
      case SimpleDbException answer -> of(answer, server + e.getMessage(), lost);
      case InterruptedException interrupted -> {
        Thread.currentThread().interrupt();
        yield QuipuException.of(
            lost, Reason.UNAVAILABLE, server + "interrupted while waiting for a reply", e);
      }
      case IOException none -> of(none, server + text(none), lost);
      default -> throw new IllegalArgumentException("not a failure of a call", e);
    };
  }

  /** Returns the outcome of an error reply: 4xx means not applied, 5xx means unknown. */
  private static QuipuException of(SimpleDbException e, String message, Outcome lost) {
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
              Reason.UNAVAILABLE; // the request is valid
          default -> e.status() == 403 ? Reason.DENIED : Reason.INVALID;
        };
    return new NotAppliedException(reason, message, e);
  }

  private static QuipuException of(IOException e, String message, Outcome lost) {
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

  private static String text(IOException e) {
    String what =
        switch (e) {
          case UnknownHostException unknown -> "unknown host " + unknown.getMessage();
          case ConnectionRequestTimeoutException busy -> "all connections are in use";
          default -> e.getMessage() == null ? "connection failed" : e.getMessage();
        };
    return what + ". Check the endpoint and the network, or raise 'timeoutMillis'";
  }

  /** Returns the exception for a call that never had a connection. */
  private static QuipuException notApplied(Reason reason, String message, IOException e) {
    return new NotAppliedException(reason, message, e);
  }
}
