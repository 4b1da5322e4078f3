package dev.quipu;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a call may have had its effect, or may still have it. Repeat the call under the same
 * request id, or look it up with {@link Counter#outcome}; without an id it cannot be resolved.
 */
public final class OutcomeUnknownException extends QuipuException {
  private static final long serialVersionUID = 1;

  /** Creates an exception. */
  public OutcomeUnknownException(Reason reason, String message, @Nullable Throwable cause) {
    super(reason, message, cause);
  }

  @Override
  public Outcome outcome() {
    return Outcome.UNKNOWN;
  }
}
