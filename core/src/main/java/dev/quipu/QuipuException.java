package dev.quipu;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a call fails. The subclass states what is known about the effect of the call: {@link
 * NotAppliedException} that there was none, {@link OutcomeUnknownException} that there may have
 * been one.
 */
public abstract sealed class QuipuException extends RuntimeException
    permits NotAppliedException, OutcomeUnknownException {
  private static final long serialVersionUID = 1;

  private final Reason reason;
  private final String message;

  QuipuException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.message = message;
  }

  /** Returns the exception for this outcome. */
  public static QuipuException of(
      Outcome outcome, Reason reason, String message, @Nullable Throwable cause) {
    return switch (outcome) {
      case NOT_APPLIED -> new NotAppliedException(reason, message, cause);
      case UNKNOWN -> new OutcomeUnknownException(reason, message, cause);
    };
  }

  /** Returns the outcome: what is known about the effect of the call. */
  public abstract Outcome outcome();

  /** Returns why the call failed. */
  public final Reason reason() {
    return reason;
  }

  @Override
  public final String getMessage() {
    return message;
  }
}
