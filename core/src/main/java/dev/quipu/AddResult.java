package dev.quipu;

import java.math.BigDecimal;
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
    /** Returns what was added, in units of the counter. */
    long added();

    /** Returns the number of digits after the point of the counter, in whose units amounts are. */
    int scale();

    /** Returns what was added, as an exact decimal. */
    default BigDecimal addedDecimal() {
      return BigDecimal.valueOf(added(), scale());
    }

    /**
     * Returns the value of the counter right after the add, as an exact decimal.
     *
     * @throws IllegalStateException if it is not known: see {@link #valueIfKnown}
     */
    default BigDecimal valueDecimal() {
      return BigDecimal.valueOf(value(), scale());
    }

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
   * @param scale the scale of the counter, in whose units both are
   */
  record Applied(long added, OptionalLong valueIfKnown, int scale) implements Success {
    /** Creates the result of an add to an integer. */
    public Applied(long added, OptionalLong valueIfKnown) {
      this(added, valueIfKnown, 0);
    }

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
   * @param scale the scale of the counter, in whose units both are
   */
  record Replayed(long added, OptionalLong valueIfKnown, int scale) implements Success {
    /** Creates the result of an add to an integer. */
    public Replayed(long added, OptionalLong valueIfKnown) {
      this(added, valueIfKnown, 0);
    }

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
   * @param scale the scale of the counter, in whose units the value is
   */
  record Rejected(Rejection why, OptionalLong valueIfKnown, List<String> heldBy, int scale)
      implements AddResult {
    /** Copies the list. */
    public Rejected {
      heldBy = List.copyOf(heldBy);
    }

    /** Creates a rejection by an integer. */
    public Rejected(Rejection why, OptionalLong valueIfKnown, List<String> heldBy) {
      this(why, valueIfKnown, heldBy, 0);
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
      throw new NotAppliedException(
          Reason.REJECTED, "add rejected: " + why.explanation(heldBy, valueIfKnown, scale));
    }
  }

  /**
   * The request id was used before with a different delta or different bounds; nothing changed.
   *
   * @param added what that earlier request added
   * @param scale the scale of the counter, in whose units that is
   */
  record Conflict(long added, int scale) implements AddResult {
    /** Creates a conflict on an integer. */
    public Conflict(long added) {
      this(added, 0);
    }

    @Override
    public boolean isApplied() {
      return false;
    }

    @Override
    public Success orElseThrow() {
      throw new NotAppliedException(
          Reason.CONFLICT,
          "this request id was first used with delta %s; delta or bounds differ. Use a new id"
              .formatted(Decimal.text(added, scale)));
    }
  }
}
