package dev.quipu.simulation.history;

import java.util.OptionalLong;

/**
 * One call of one client on one counter, from invocation to answer.
 *
 * @param request the logical request that it belongs to: repeats share it
 * @param kind an add, or a read
 * @param delta what it asked to add; 0 for a read
 * @param floor smallest value that it allowed; {@link Long#MIN_VALUE} for none
 * @param ceiling largest value that it allowed; {@link Long#MAX_VALUE} for none
 * @param invoked when it began, in steps of the history
 * @param returned when its answer came; {@link #NEVER} if it never did
 * @param end how it ended
 * @param value the value that it returned, if it did
 */
public record Operation(
    String request,
    Kind kind,
    long delta,
    long floor,
    long ceiling,
    long invoked,
    long returned,
    End end,
    OptionalLong value) {
  /** The answer never came: what was asked may still happen. */
  public static final long NEVER = Long.MAX_VALUE;

  /** What was asked. */
  public enum Kind {
    /** Change a counter. */
    ADD,
    /** Read a counter. */
    READ
  }

  /** How it ended. */
  public enum End {
    /** Done by this call. */
    OK,
    /** Done by an earlier call of the same request. */
    REPLAYED,
    /** Certainly not done, because of a bound. */
    REJECTED,
    /** Certainly not done, for another reason. */
    FAILED,
    /** Done or not. */
    UNKNOWN
  }

  /** Whether it changed the counter, for sure. */
  public boolean isOkAdd() {
    return kind == Kind.ADD && end == End.OK;
  }

  /** Whether it may have changed the counter. */
  public boolean isUnknownAdd() {
    return kind == Kind.ADD && end == End.UNKNOWN;
  }
}
