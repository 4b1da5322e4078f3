package dev.quipu.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import com.google.cloud.datastore.DatastoreException;
import com.google.rpc.Code;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.entity.Transactions;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import org.apache.http.conn.ConnectTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The codes of the service that no emulator returns on demand. */
final class ErrorCodesTest {
  private static void assertIs(Outcome outcome, Reason reason, QuipuException e) {
    assertEquals(outcome, e.outcome());
    assertEquals(reason, e.reason());
  }

  @ParameterizedTest
  @CsvSource({
    "RESOURCE_EXHAUSTED,  NOT_APPLIED, THROTTLED",
    "INVALID_ARGUMENT,    NOT_APPLIED, INVALID",
    "PERMISSION_DENIED,   NOT_APPLIED, DENIED",
    "UNAUTHENTICATED,     NOT_APPLIED, DENIED",
    "FAILED_PRECONDITION, NOT_APPLIED, UNAVAILABLE",
    "NOT_FOUND,           NOT_APPLIED, UNAVAILABLE",
    "DEADLINE_EXCEEDED,   UNKNOWN,     TIMEOUT",
    "UNAVAILABLE,         UNKNOWN,     UNAVAILABLE",
    "INTERNAL,            UNKNOWN,     UNAVAILABLE",
    "CANCELLED,           UNKNOWN,     UNAVAILABLE",
  })
  void aReplyStatesTheOutcome(Code code, Outcome outcome, Reason reason) {
    DatastoreException e = new DatastoreException(code.getNumber(), "text", code.name());
    assertIs(outcome, reason, Failures.of(e, Outcome.UNKNOWN));
  }

  @Test
  void aCodeThatIsNotKnownLeavesTheOutcomeUnknown() {
    DatastoreException e = new DatastoreException(999, "text", "NEW_CODE");
    assertIs(Outcome.UNKNOWN, Reason.UNAVAILABLE, Failures.of(e, Outcome.UNKNOWN));
  }

  @Test
  void anAbortedTransactionIsContention() {
    DatastoreException e = new DatastoreException(Code.ABORTED_VALUE, "text", "ABORTED");
    assertInstanceOf(Transactions.Contended.class, Failures.of(e, Outcome.UNKNOWN));
  }

  @Test
  void onlyACallThatNeverConnectedIsNotApplied() {
    assertIs(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, after(new ConnectException("refused")));
    assertIs(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, after(new UnknownHostException("host")));
    assertIs(Outcome.NOT_APPLIED, Reason.TIMEOUT, after(new ConnectTimeoutException("late")));
    assertIs(Outcome.UNKNOWN, Reason.TIMEOUT, after(new SocketTimeoutException("late")));
    assertIs(Outcome.UNKNOWN, Reason.UNAVAILABLE, after(new IOException("reset")));
  }

  private static QuipuException after(IOException cause) {
    DatastoreException e =
        new DatastoreException(Code.UNAVAILABLE_VALUE, "text", "UNAVAILABLE", cause);
    return Failures.of(e, Outcome.UNKNOWN);
  }
}
