package dev.quipu.datastore;

import com.google.cloud.datastore.DatastoreException;
import com.google.rpc.Code;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.entity.Transactions;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Optional;
import org.apache.http.conn.ConnectTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Maps errors of Datastore and of its connections to exceptions that state the effect of a call.
 */
final class Failures {
  private Failures() {}

  /**
   * Returns the exception for a failed call.
   *
   * @param lost the outcome if it is unknown whether the call was executed
   */
  static QuipuException of(DatastoreException e, Outcome lost) {
    String message = "Datastore: %s (%s)".formatted(e.getMessage(), e.getReason());
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      Optional<QuipuException> lostOnTheWay = ofConnection(cause, message, lost, e);
      if (lostOnTheWay.isPresent()) {
        return lostOnTheWay.get();
      }
    }
    return switch (code(e)) {
      case ABORTED -> new Transactions.Contended(message, e);
      case RESOURCE_EXHAUSTED -> new NotAppliedException(Reason.THROTTLED, message, e);
      case INVALID_ARGUMENT -> new NotAppliedException(Reason.INVALID, message, e);
      case PERMISSION_DENIED, UNAUTHENTICATED -> new NotAppliedException(Reason.DENIED, message, e);
      case FAILED_PRECONDITION, NOT_FOUND, ALREADY_EXISTS, OUT_OF_RANGE, UNIMPLEMENTED ->
          // for example, an index or the database is missing: the request is valid
          new NotAppliedException(Reason.UNAVAILABLE, message, e);
      case DEADLINE_EXCEEDED -> QuipuException.of(lost, Reason.TIMEOUT, message, e);
      default -> QuipuException.of(lost, Reason.UNAVAILABLE, message, e);
    };
  }

  private static Optional<QuipuException> ofConnection(
      Throwable cause, String message, Outcome lost, DatastoreException e) {
    return switch (cause) {
      case ConnectTimeoutException late -> // or no free connection
          Optional.of(new NotAppliedException(Reason.TIMEOUT, message, e));
      case ConnectException rejected ->
          Optional.of(new NotAppliedException(Reason.UNAVAILABLE, message, e));
      case UnknownHostException nowhere ->
          Optional.of(new NotAppliedException(Reason.UNAVAILABLE, message, e));
      case SocketTimeoutException late ->
          Optional.of(QuipuException.of(lost, Reason.TIMEOUT, message, e));
      default -> Optional.empty();
    };
  }

  private static Code code(DatastoreException e) {
    @Nullable Code code = Code.forNumber(e.getCode());
    return code == null ? Code.UNKNOWN : code;
  }
}
