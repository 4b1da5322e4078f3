package dev.quipu.appengine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.appengine.api.datastore.DatastoreFailureException;
import com.google.appengine.api.datastore.DatastoreTimeoutException;
import com.google.apphosting.api.ApiProxy;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.entity.Transactions;
import java.util.ConcurrentModificationException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The errors of the service that the local one does not return on demand. */
final class ErrorsTest {
  private static List<Arguments> errors() {
    String api = "datastore_v3";
    String call = "Commit";
    return List.of(
        arguments(
            new ApiProxy.OverQuotaException(api, call), Outcome.NOT_APPLIED, Reason.THROTTLED),
        arguments(
            new ApiProxy.RequestTooLargeException(api, call), Outcome.NOT_APPLIED, Reason.INVALID),
        arguments(new IllegalArgumentException("key"), Outcome.NOT_APPLIED, Reason.INVALID),
        arguments(
            new ApiProxy.ApiDeadlineExceededException(api, call), Outcome.UNKNOWN, Reason.TIMEOUT),
        arguments(new DatastoreTimeoutException("late"), Outcome.UNKNOWN, Reason.TIMEOUT),
        arguments(new DatastoreFailureException("failed"), Outcome.UNKNOWN, Reason.UNAVAILABLE),
        arguments(new ApiProxy.UnknownException(api, call), Outcome.UNKNOWN, Reason.UNAVAILABLE));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void anErrorStatesTheOutcome(RuntimeException error, Outcome outcome, Reason reason) {
    QuipuException e = Failures.of(error, Outcome.UNKNOWN);
    assertEquals(outcome, e.outcome());
    assertEquals(reason, e.reason());
  }

  @Test
  void aConcurrentModificationIsContention() {
    RuntimeException race = new ConcurrentModificationException("race");
    assertInstanceOf(Transactions.Contended.class, Failures.of(race, Outcome.UNKNOWN));
  }
}
