package dev.quipu;

import org.jspecify.annotations.Nullable;

/**
 * A call to a store that has no definite good answer. Says what is known of its effect, and why.
 */
public class QuipuException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Outcome outcome;
  private final Reason reason;
  private final String message;

  /** Makes one. */
  public QuipuException(Outcome outcome, Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.outcome = outcome;
    this.reason = reason;
    this.message = message;
  }

  /** What is known of the effect. */
  public Outcome outcome() {
    return outcome;
  }

  /** Why. */
  public Reason reason() {
    return reason;
  }

  @Override
  public String getMessage() {
    return message;
  }

  /** The exception for a call that certainly had no effect. */
  public static QuipuException notApplied(Reason reason, String message) {
    return QuipuException.of(Outcome.NOT_APPLIED, reason, message, null);
  }

  /** The exception for a call that may have had its effect. */
  public static QuipuException unknown(Reason reason, String message, @Nullable Throwable cause) {
    return QuipuException.of(Outcome.UNKNOWN, reason, message, cause);
  }
}
