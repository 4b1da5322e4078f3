package dev.quipu;

import java.util.List;
import java.util.OptionalLong;

/**
 * The definite result of an add. If there is none, the call throws a {@link QuipuException}.
 *
 * <pre>{@code
 * long left = seats.add(-2, RequestId.of("order-982")).orElseThrow().value();
 * }</pre>
 */
@CheckReturnValue
public sealed interface AddResult extends ItemResult {
  /** Returns whether the add counts: applied by this call, or by an earlier one with its id. */
  boolean isApplied();

  /**
   * Returns what was applied.
   *
   * @throws NotAppliedException with {@link Reason#REJECTED} or {@link Reason#CONFLICT} if the add
   *     does not count
   */
  Success orElseThrow();

  @Override
  default AddResult result() {
    return this;
  }

  /** An add that counts. */
  sealed interface Success extends AddResult {
    /** Returns what was added. */
    long added();

    /** Returns whether an earlier call under the same request id applied it. */
    boolean isReplayed();

    /**
     * Returns the value of the counter right after the add; empty if the technique cannot return it
     * on this store ({@link Guarantee#ADD_AND_GET}), or did not keep it for replays.
     */
    OptionalLong valueIfKnown();

    /**
     * Returns the value of the counter right after the add. The embedded engine always returns it.
     *
     * @throws IllegalStateException if it is not known: see {@link #valueIfKnown}
     */
    default long value() {
      return valueIfKnown()
          .orElseThrow(() ->
              new IllegalStateException(
                  "the value after this %s is not known on this store; use valueIfKnown(), or read the counter"
                      .formatted(isReplayed() ? "replayed add" : "add")));
    }

    @Override
    default boolean isApplied() {
      return true;
    }

    @Override
    default Success orElseThrow() {
      return this;
    }
  }

  /**
   * The add was applied by this call.
   *
   * @param added what was added
   * @param valueIfKnown the value right after this add, if known
   */
  record Applied(long added, OptionalLong valueIfKnown) implements Success {
    @Override
    public boolean isReplayed() {
      return false;
    }
  }

  /**
   * The add was applied earlier under the same request id; nothing changed now. The components
   * repeat the first result.
   *
   * @param added what was added
   * @param valueIfKnown the value right after the add, if it was kept
   */
  record Replayed(long added, OptionalLong valueIfKnown) implements Success {
    @Override
    public boolean isReplayed() {
      return true;
    }
  }

  /**
   * The add was not applied, and nothing was consumed.
   *
   * @param why the reason
   * @param valueIfKnown the value of the counter at the rejection, if it was read
   * @param heldBy for {@link Rejection#HELD_ELSEWHERE}, the regions that did not respond
   */
  record Rejected(Rejection why, OptionalLong valueIfKnown, List<String> heldBy)
      implements AddResult {
    /** Copies the list. */
    public Rejected {
      heldBy = List.copyOf(heldBy);
    }

    /** Creates a rejection with the value of the counter. */
    public Rejected(Rejection why, long value) {
      this(why, OptionalLong.of(value), List.of());
    }

    /** Creates a rejection for which the counter was not read. */
    public Rejected(Rejection why) {
      this(why, OptionalLong.empty(), List.of());
    }

    @Override
    public boolean isApplied() {
      return false;
    }

    @Override
    public Success orElseThrow() {
      String what =
          switch (why) {
            case FLOOR -> "the value would fall below the floor";
            case CEILING -> "the value would exceed the ceiling";
            case OVERFLOW -> "the value would exceed 64 bits";
            case HELD_ELSEWHERE ->
                "regions that do not respond may hold the amount: " + String.join(", ", heldBy);
            case CANCELED -> "the request was canceled and will never be applied";
          };
      String at = valueIfKnown.isPresent() ? "; the value is " + valueIfKnown.getAsLong() : "";
      throw new NotAppliedException(Reason.REJECTED, "add rejected: " + what + at);
    }
  }

  /**
   * The request id was used before with a different delta or different bounds; nothing changed.
   *
   * @param added what that earlier request added
   */
  record Conflict(long added) implements AddResult {
    @Override
    public boolean isApplied() {
      return false;
    }

    @Override
    public Success orElseThrow() {
      throw new NotAppliedException(
          Reason.CONFLICT,
          "this request id was first used with delta %d; delta or bounds differ. Use a new id"
              .formatted(added));
    }
  }
}
