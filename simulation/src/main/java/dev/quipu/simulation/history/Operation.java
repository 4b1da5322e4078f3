package dev.quipu.simulation.history;

import java.util.OptionalLong;

/**
 * One call of one client on one counter, from invocation to return.
 *
 * @param request the logical request, which repeats share
 * @param kind an add or a read
 * @param delta the requested delta; 0 for a read
 * @param floor smallest allowed value; {@link Long#MIN_VALUE} for none
 * @param ceiling largest allowed value; {@link Long#MAX_VALUE} for none
 * @param invoked start, in steps of the history
 * @param returned return, in steps of the history; {@link #NEVER} if it never returned
 * @param end its result
 * @param value the returned value, if any
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
  /** The operation never returned: it may still be applied. */
  public static final long NEVER = Long.MAX_VALUE;

  /** Kinds of operations. */
  public enum Kind {
    /** Change a counter. */
    ADD,
    /** Read a counter. */
    READ
  }

  /** Results of operations. */
  public enum End {
    /** Applied by this call. */
    OK,
    /** Applied by an earlier call of the same request. */
    REPLAYED,
    /** Certainly not applied, because of a bound. */
    REJECTED,
    /** Certainly not applied, for another reason. */
    FAILED,
    /** Applied or not. */
    UNKNOWN
  }

  /** Returns whether it is an add that certainly changed the counter. */
  public boolean isOkAdd() {
    return kind == Kind.ADD && end == End.OK;
  }

  /** Returns whether it is an add that may have changed the counter. */
  public boolean isUnknownAdd() {
    return kind == Kind.ADD && end == End.UNKNOWN;
  }
}
