package dev.quipu.dynamodb;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.net.ConnectException;
import java.net.UnknownHostException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.TransactionInProgressException;

/** Maps errors of DynamoDB and of its SDK to exceptions that state the effect of a call. */
final class Failures {
  private Failures() {}

  /**
   * Returns the exception for a failed call: a 4xx reply means not applied; with a 5xx reply or
   * none, the outcome is unknown. It is also unknown after several attempts of the client, since an
   * earlier one may have been applied.
   *
   * @param lost the outcome if it is unknown whether the call was executed
   */
  static QuipuException of(SdkException e, Outcome lost) {
    String message = "DynamoDB: " + e.getMessage();
    if (wasRepeated(e)) {
      return QuipuException.of(lost, Reason.UNAVAILABLE, message, e);
    }
    return switch (e) {
      case TransactionInProgressException running ->
          QuipuException.of(lost, Reason.THROTTLED, message, e);
      case ResourceNotFoundException missing ->
          new NotAppliedException(
              Reason.UNAVAILABLE,
              "DynamoDB: the table does not exist; quipu schema prints the commands that create it",
              e);
      case DynamoDbException answer when answer.statusCode() < 500 ->
          new NotAppliedException(reason(answer), message, e);
      case DynamoDbException failed -> QuipuException.of(lost, Reason.UNAVAILABLE, message, e);
      case ApiCallTimeoutException late -> QuipuException.of(lost, Reason.TIMEOUT, message, e);
      case ApiCallAttemptTimeoutException late ->
          QuipuException.of(lost, Reason.TIMEOUT, message, e);
      case AbortedException interrupted -> {
        Thread.currentThread().interrupt();
        yield QuipuException.of(lost, Reason.UNAVAILABLE, message, e);
      }
      default ->
          QuipuException.of(
              neverConnected(e) ? Outcome.NOT_APPLIED : lost, Reason.UNAVAILABLE, message, e);
    };
  }

  /** Returns whether the client made several attempts. */
  static boolean wasRepeated(SdkException e) {
    Integer attempts = e.numAttempts();
    return attempts != null && attempts > 1;
  }

  /** Returns whether an expression refers to an attribute that the item does not have. */
  static boolean isMissingAttribute(SdkException e) {
    return e instanceof DynamoDbException answer
        && !wasRepeated(e)
        && answer.awsErrorDetails() != null
        && "ValidationException".equals(answer.awsErrorDetails().errorCode())
        && String.valueOf(answer.getMessage()).contains("attribute that does not exist");
  }

  private static boolean neverConnected(Throwable e) {
    for (Throwable each = e; each != null; each = each.getCause()) {
      if (each instanceof ConnectException || each instanceof UnknownHostException) {
        return true;
      }
    }
    return false;
  }

  private static Reason reason(DynamoDbException answer) {
    String code = answer.awsErrorDetails() == null ? "" : answer.awsErrorDetails().errorCode();
    if (answer.isThrottlingException() || answer.statusCode() == 429) {
      return Reason.THROTTLED;
    }
    return switch (code == null ? "" : code) {
      case "ProvisionedThroughputExceededException",
          "RequestLimitExceeded",
          "ThrottlingException",
          "LimitExceededException",
          "ReplicatedWriteConflictException",
          "TransactionConflictException" ->
          Reason.THROTTLED;
      case "AccessDeniedException",
          "UnrecognizedClientException",
          "InvalidSignatureException",
          "IncompleteSignatureException",
          "MissingAuthenticationTokenException",
          "ExpiredTokenException" ->
          Reason.DENIED;
      case "ItemCollectionSizeLimitExceededException" -> Reason.FULL;
      case "ValidationException" -> ofValidation(String.valueOf(answer.getMessage()));
      case "IdempotentParameterMismatchException" -> Reason.INVALID;
      default -> Reason.UNAVAILABLE; // the request is valid
    };
  }

  /**
   * Returns the reason of a validation error: a key that does not match means another table schema,
   * a field of another type means that something else wrote the item.
   */
  private static Reason ofValidation(String message) {
    if (message.contains("incorrect data type") || message.contains("type mismatch")) {
      return Reason.CORRUPT;
    }
    return message.contains("does not match the schema") || message.contains("Missing the key")
        ? Reason.UNAVAILABLE
        : Reason.INVALID;
  }

  /** Returns the exception for a transaction that was canceled, but not by a condition. */
  static QuipuException ofCanceled(TransactionCanceledException e) {
    for (CancellationReason reason : e.cancellationReasons()) {
      String code = String.valueOf(reason.code());
      boolean invalid = code.equals("ValidationError");
      if (invalid || code.equals("ItemCollectionSizeLimitExceeded")) {
        return new NotAppliedException(
            invalid ? ofValidation(String.valueOf(reason.message())) : Reason.FULL,
            "DynamoDB: " + reason.message(),
            e);
      }
    }
    return new NotAppliedException(Reason.THROTTLED, "DynamoDB: " + e.getMessage(), e);
  }
}
