package dev.quipu;

import java.util.OptionalLong;

/** The definite result of a call about a hold. If there is none, the call throws an exception. */
@CheckReturnValue
public sealed interface HoldResult {
  /**
   * Returns the hold after the call.
   *
   * @throws NotAppliedException if the call had no effect
   */
  default Done orElseThrow() {
    throw new NotAppliedException(
        this instanceof Conflict ? Reason.CONFLICT : Reason.REJECTED, explanation());
  }

  /** Describes the result for people. */
  String explanation();

  /**
   * The call took effect, now or earlier.
   *
   * @param hold the hold after the call
   * @param isReplayed whether an earlier call did the same; nothing changed now
   */
  record Done(HoldReading hold, boolean isReplayed) implements HoldResult {
    @Override
    public Done orElseThrow() {
      return this;
    }

    @Override
    public String explanation() {
      return "hold %s %s".formatted(hold.id(), hold.explanation());
    }
  }

  /**
   * A bound was reached; nothing changed.
   *
   * @param counter the first counter whose add was rejected; empty if the id was canceled
   * @param why the reason
   * @param valueIfKnown the value of this counter at the rejection, if it was read
   * @param scale the scale of this counter, in whose units the value is
   */
  record Rejected(String counter, Rejection why, OptionalLong valueIfKnown, int scale)
      implements HoldResult {
    /** Creates a rejection by an integer. */
    public Rejected(String counter, Rejection why, OptionalLong valueIfKnown) {
      this(counter, why, valueIfKnown, 0);
    }

    @Override
    public String explanation() {
      return why.explanation(counter, valueIfKnown, scale);
    }
  }

  /**
   * The settlement exceeds what the hold reserved, and its policy rejects that; nothing changed.
   *
   * @param counter the first such counter
   * @param held what the hold reserved on it
   * @param scale the scale of this counter, in whose units that is
   */
  record Exceeded(String counter, long held, int scale) implements HoldResult {
    /** Creates an excess on an integer. */
    public Exceeded(String counter, long held) {
      this(counter, held, 0);
    }

    @Override
    public String explanation() {
      return "the settlement of %s exceeds the %s that the hold reserved"
          .formatted(counter, Decimal.text(held, scale));
    }
  }

  /**
   * The hold ended before in another way; nothing changed.
   *
   * @param hold how it ended
   */
  record Closed(HoldReading hold) implements HoldResult {
    @Override
    public String explanation() {
      return "hold %s %s".formatted(hold.id(), hold.explanation());
    }
  }

  /** No hold with this id is known: it was never placed, or is no longer remembered. */
  record NotFound() implements HoldResult {
    @Override
    public String explanation() {
      return "no hold with this id is known";
    }
  }

  /** The id was used before for another hold or for a transaction; nothing changed. */
  record Conflict() implements HoldResult {
    @Override
    public String explanation() {
      return "this id was first used for a hold with other counters, amounts, bounds, ttl or policies, or"
          + " for a transaction. Read the hold before you use a new id: it may reserve the amount";
    }
  }
}
