package dev.quipu.engine;

import dev.quipu.Bounds;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * A transaction or a hold in the model, by an id that its counters share.
 *
 * @param state of both
 * @param parts one for each counter
 * @param ttlMillis of a hold, as it was placed
 * @param expiresAt of a hold, in milliseconds since 1970
 * @param ageMillis the age time of its last change, from which it is remembered
 */
record SimShared(
    State state,
    List<Part> parts,
    long ttlMillis,
    long expiresAt,
    boolean appliesLate,
    boolean allowsExcess,
    long ageMillis) {
  /** How a transaction or a hold stands. */
  enum State {
    APPLIED,
    CANCELED,
    OPEN,
    SETTLED,
    SETTLED_LATE,
    RELEASED,
    EXPIRED
  }

  /** The key of one in the model. */
  record Key(long id) {}

  /** What was added to one counter; kept is the resulting value of a transaction. */
  record Part(String counter, long delta, Bounds bounds, long kept, boolean isVoid) {
    Part keeping(long amount) {
      return new Part(counter, delta, bounds, amount, isVoid);
    }

    Part voided(boolean gone) {
      return new Part(counter, delta, bounds, kept, isVoid || gone);
    }
  }

  /** Returns whether it belongs to a hold that has not ended. */
  boolean isOpen() {
    return state == State.OPEN;
  }

  boolean isHold() {
    return state != State.APPLIED && state != State.CANCELED;
  }

  SimShared with(State next, List<Part> changed, long age) {
    return new SimShared(
        next, List.copyOf(changed), ttlMillis, expiresAt, appliesLate, allowsExcess, age);
  }

  /** Returns whether a late settlement is applied: never to a later counter of a removed name. */
  boolean maySettleLate() {
    return state == State.EXPIRED && appliesLate && parts.stream().noneMatch(Part::isVoid);
  }

  SimShared expiring(long at) {
    return new SimShared(state, parts, ttlMillis, at, appliesLate, allowsExcess, ageMillis);
  }

  /** Returns the same with the parts of a counter void. */
  SimShared without(String counter) {
    List<Part> changed = new ArrayList<>();
    parts.forEach(part -> changed.add(part.voided(part.counter.equals(counter))));
    return with(state, changed, ageMillis);
  }

  /** Returns what a stored one must be equal to; whether a part is void is compared apart. */
  String stored() {
    StringBuilder text = new StringBuilder(state.name());
    if (state == State.CANCELED) {
      return text.toString();
    }
    for (Part part : parts) {
      text.append(' ').append(part.counter).append(part.delta >= 0 ? "+" : "").append(part.delta);
      if (!isOpen()) {
        text.append(" kept ").append(part.kept);
      }
    }
    return text.append(state == State.APPLIED ? "" : " until " + expiresAt).toString();
  }

  static boolean isLong(long one, long other) {
    return BigInteger.valueOf(one).add(BigInteger.valueOf(other)).bitLength() <= 63;
  }

  /** Returns whether what was added can be taken back, keeping a part of it. */
  static boolean isReturnable(long value, long delta, long kept) {
    return BigInteger.valueOf(value)
            .subtract(BigInteger.valueOf(delta))
            .add(BigInteger.valueOf(kept))
            .bitLength()
        <= 63;
  }
}
