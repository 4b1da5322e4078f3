package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.io.IOException;
import java.net.ConnectException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

/** The codes of the service that DynamoDB Local does not return on demand. */
final class ErrorCodesTest {
  private static DynamoDbException answer(int status, String code, String message, int attempts) {
    AwsErrorDetails details =
        AwsErrorDetails.builder().errorCode(code).errorMessage(message).build();
    return (DynamoDbException)
        DynamoDbException.builder()
            .statusCode(status)
            .awsErrorDetails(details)
            .message(message)
            .numAttempts(attempts)
            .build();
  }

  private static void assertIs(Outcome outcome, Reason reason, QuipuException e) {
    assertEquals(outcome, e.outcome());
    assertEquals(reason, e.reason());
  }

  @ParameterizedTest
  @CsvSource({
    "400, ProvisionedThroughputExceededException, NOT_APPLIED, THROTTLED",
    "400, ThrottlingException,                    NOT_APPLIED, THROTTLED",
    "400, RequestLimitExceeded,                   NOT_APPLIED, THROTTLED",
    "400, TransactionConflictException,           NOT_APPLIED, THROTTLED",
    "400, ReplicatedWriteConflictException,       NOT_APPLIED, THROTTLED",
    "429, AnythingElse,                           NOT_APPLIED, THROTTLED",
    "400, AccessDeniedException,                  NOT_APPLIED, DENIED",
    "400, UnrecognizedClientException,            NOT_APPLIED, DENIED",
    "400, ExpiredTokenException,                  NOT_APPLIED, DENIED",
    "400, ItemCollectionSizeLimitExceededException, NOT_APPLIED, FULL",
    "400, IdempotentParameterMismatchException,   NOT_APPLIED, INVALID",
    "400, ResourceNotFoundException,              NOT_APPLIED, UNAVAILABLE",
    "500, InternalServerError,                    UNKNOWN,     UNAVAILABLE",
    "503, ServiceUnavailable,                     UNKNOWN,     UNAVAILABLE",
  })
  void aReplyStatesTheOutcome(int status, String code, Outcome outcome, Reason reason) {
    assertIs(outcome, reason, Failures.of(answer(status, code, "text", 1), Outcome.UNKNOWN));
  }

  @Test
  void aValidationErrorOfTheKeyIsAnotherTableSchema() {
    String schema = "The provided key element does not match the schema";
    assertIs(
        Outcome.NOT_APPLIED,
        Reason.UNAVAILABLE,
        Failures.of(answer(400, "ValidationException", schema, 1), Outcome.UNKNOWN));
    assertIs(
        Outcome.NOT_APPLIED,
        Reason.INVALID,
        Failures.of(answer(400, "ValidationException", "Item size", 1), Outcome.UNKNOWN));
  }

  @Test
  void anEarlierAttemptMayHaveBeenApplied() {
    QuipuException e = Failures.of(answer(400, "ThrottlingException", "text", 2), Outcome.UNKNOWN);
    assertIs(Outcome.UNKNOWN, Reason.UNAVAILABLE, e);
  }

  @Test
  void onlyACallThatNeverConnectedIsNotApplied() {
    SdkClientException refused = SdkClientException.create("refused", new ConnectException("no"));
    SdkClientException cut = SdkClientException.create("cut", new IOException("reset"));
    assertIs(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, Failures.of(refused, Outcome.UNKNOWN));
    assertIs(Outcome.UNKNOWN, Reason.UNAVAILABLE, Failures.of(cut, Outcome.UNKNOWN));
    assertIs(
        Outcome.UNKNOWN,
        Reason.TIMEOUT,
        Failures.of(ApiCallTimeoutException.create(100), Outcome.UNKNOWN));
  }
}
