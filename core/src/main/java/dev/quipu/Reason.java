package dev.quipu;

/** Why a call to a store ended in an exception. */
public enum Reason {
  /** The store cannot be reached, or is not working. */
  UNAVAILABLE,
  /** The store asks for fewer calls. */
  THROTTLED,
  /** No answer within the deadline. */
  TIMEOUT,
  /** The store has no room for more; reads go on. */
  FULL,
  /** The store does not let this caller in. */
  DENIED,
  /** The store rejects what was sent; a repeat would be rejected too. */
  INVALID,
  /** What is stored is damaged. */
  CORRUPT,
  /** The add was rejected: a bound, or a canceled request; see {@link AddResult.Rejected}. */
  REJECTED,
  /** The request id was used before for another request; see {@link AddResult.Conflict}. */
  CONFLICT;

  /** Whether the same call may succeed a moment later. */
  public boolean isTemporary() {
    return switch (this) {
      case UNAVAILABLE, THROTTLED, TIMEOUT -> true;
      case FULL, DENIED, INVALID, CORRUPT, REJECTED, CONFLICT -> false;
    };
  }
}
