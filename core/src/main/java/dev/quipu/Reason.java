package dev.quipu;

/** Why a call ended in an exception. */
public enum Reason {
  /** The store is unreachable or does not work. */
  UNAVAILABLE,
  /** The store limits the rate of calls, or there is contention. */
  THROTTLED,
  /** No reply arrived within the deadline. */
  TIMEOUT,
  /** The store is full; reads still work. */
  FULL,
  /** The store denies access. */
  DENIED,
  /** The store rejects the request, and would reject a retry too. */
  INVALID,
  /** Stored data is corrupt. */
  CORRUPT,
  /** The add was rejected: a bound, or a canceled request; see {@link AddResult.Rejected}. */
  REJECTED,
  /** The request id was used before for a different request; see {@link AddResult.Conflict}. */
  CONFLICT,
  /** Open holds reserve amounts of the counter. */
  HELD;

  /** Returns whether the same call may succeed a moment later. */
  public boolean isTemporary() {
    return switch (this) {
      case UNAVAILABLE, THROTTLED, TIMEOUT -> true;
      case FULL, DENIED, INVALID, CORRUPT, REJECTED, CONFLICT, HELD -> false;
    };
  }
}
