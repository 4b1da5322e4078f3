package dev.quipu.appengine;

import com.google.appengine.api.datastore.DatastoreNeedIndexException;
import com.google.appengine.api.datastore.DatastoreTimeoutException;
import com.google.apphosting.api.ApiProxy;
import dev.quipu.Outcome;
import dev.quipu.Reason;
import dev.quipu.StoreException;
import dev.quipu.entity.Transactions;
import java.util.ConcurrentModificationException;

/** What an error of App Engine's datastore says about the effect of a call. */
final class Failures {
  private Failures() {}

  /**
   * What a call came to that ended so.
   *
   * @param lost what it means for the call if nobody knows whether it was done
   */
  static StoreException of(RuntimeException e, Outcome lost) {
    String message = "App Engine: " + e.getMessage();
    return switch (e) {
      case StoreException known -> known;
      case ConcurrentModificationException race -> new Transactions.Contended(message, e);
      case ApiProxy.OverQuotaException quota ->
          new StoreException(Outcome.NOT_APPLIED, Reason.THROTTLED, message, e);
      case ApiProxy.CapabilityDisabledException off ->
          new StoreException(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, message, e);
      case ApiProxy.RequestTooLargeException large ->
          new StoreException(Outcome.NOT_APPLIED, Reason.INVALID, message, e);
      case DatastoreNeedIndexException index ->
          new StoreException(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, message, e);
      case IllegalArgumentException rejected ->
          new StoreException(Outcome.NOT_APPLIED, Reason.INVALID, message, e);
      case DatastoreTimeoutException late -> new StoreException(lost, Reason.TIMEOUT, message, e);
      case ApiProxy.ApiDeadlineExceededException late ->
          new StoreException(lost, Reason.TIMEOUT, message, e);
      default -> new StoreException(lost, Reason.UNAVAILABLE, message, e);
    };
  }
}
