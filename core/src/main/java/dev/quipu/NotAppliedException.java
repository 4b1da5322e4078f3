package dev.quipu;

import org.jspecify.annotations.Nullable;

/** Thrown when a call certainly had no effect and will have none. It may be repeated. */
public non-sealed class NotAppliedException extends QuipuException {
  private static final long serialVersionUID = 1;

  /** Creates an exception without a cause. */
  public NotAppliedException(Reason reason, String message) {
    this(reason, message, null);
  }

  /** Creates an exception. */
  public NotAppliedException(Reason reason, String message, @Nullable Throwable cause) {
    super(reason, message, cause);
  }

  @Override
  public final Outcome outcome() {
    return Outcome.NOT_APPLIED;
  }
}
