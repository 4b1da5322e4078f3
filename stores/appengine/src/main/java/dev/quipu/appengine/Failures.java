package dev.quipu.appengine;

import com.google.appengine.api.datastore.DatastoreNeedIndexException;
import com.google.appengine.api.datastore.DatastoreTimeoutException;
import com.google.apphosting.api.ApiProxy;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.entity.Transactions;
import java.util.ConcurrentModificationException;
import java.util.Objects;

/** Maps errors of App Engine's datastore to exceptions that state the effect of a call. */
final class Failures {
  private Failures() {}

  /**
   * Returns the exception for a failed call.
   *
   * @param lost the outcome if it is unknown whether the call was executed
   */
  static QuipuException of(RuntimeException e, Outcome lost) {
    String message = "App Engine: " + Objects.requireNonNullElse(e.getMessage(), "the call failed");
    return switch (e) {
      case QuipuException known -> known;
      case ConcurrentModificationException race -> new Transactions.Contended(message, e);
      case ApiProxy.OverQuotaException quota ->
          new NotAppliedException(Reason.THROTTLED, message, e);
      case ApiProxy.CapabilityDisabledException off ->
          new NotAppliedException(Reason.UNAVAILABLE, message, e);
      case ApiProxy.RequestTooLargeException large ->
          new NotAppliedException(Reason.INVALID, message, e);
      case DatastoreNeedIndexException index ->
          new NotAppliedException(Reason.UNAVAILABLE, message, e);
      case IllegalArgumentException rejected -> new NotAppliedException(Reason.INVALID, message, e);
      case DatastoreTimeoutException late -> QuipuException.of(lost, Reason.TIMEOUT, message, e);
      case ApiProxy.ApiDeadlineExceededException late ->
          QuipuException.of(lost, Reason.TIMEOUT, message, e);
      default -> QuipuException.of(lost, Reason.UNAVAILABLE, message, e);
    };
  }
}
