package dev.quipu;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * A request to add to a counter.
 *
 * @param counter the name of the counter: 1 to {@link Limits#NAME_BYTES_MAX} bytes of UTF-8, no
 *     control characters
 * @param delta what to add; not zero
 * @param bounds the bounds that the add must keep
 * @param id the request id: an add repeated under it counts exactly once; null for none, and then
 *     an unknown outcome cannot be resolved
 * @param scale the number of digits after the point of delta and bounds, which are converted to the
 *     scale of the counter; {@link #UNITS} if they are in units of it
 */
public record Add(String counter, long delta, Bounds bounds, @Nullable RequestId id, int scale) {
  /** Delta and bounds are in units of the counter: 1 is the smallest step, whatever its scale. */
  public static final int UNITS = -1;

  /**
   * Creates a request.
   *
   * @throws IllegalArgumentException naming the field that is outside its limits
   */
  public Add {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    if (delta == 0) {
      throw new IllegalArgumentException("delta must not be 0");
    }
    if (scale != UNITS) {
      Decimal.checkScale(scale);
    }
  }

  /** Creates a request in units of the counter. */
  public Add(String counter, long delta, Bounds bounds, @Nullable RequestId id) {
    this(counter, delta, bounds, id, UNITS);
  }

  /** Creates a request without bounds. */
  public Add(String counter, long delta, @Nullable RequestId id) {
    this(counter, delta, Bounds.none(), id);
  }

  /**
   * Creates a request whose amounts are decimals.
   *
   * @param floor smallest value allowed after a decrement; null for none
   * @param ceiling largest value allowed after an increment; null for none
   * @throws IllegalArgumentException naming the field that is outside its limits, or does not fit
   *     into 64 bits with as many digits after the point as the others
   */
  public static Add of(
      String counter,
      Decimal delta,
      @Nullable Decimal floor,
      @Nullable Decimal ceiling,
      @Nullable RequestId id) {
    if (floor == null && ceiling == null) {
      return new Add(counter, delta.units(), Bounds.none(), id, delta.scale());
    }
    int scale = delta.scale();
    scale = floor == null ? scale : Math.max(scale, floor.scale());
    scale = ceiling == null ? scale : Math.max(scale, ceiling.scale());
    Bounds bounds =
        new Bounds(
            floor == null || floor.units() == Long.MIN_VALUE
                ? Long.MIN_VALUE
                : floor.unitsAt("field floor", scale),
            ceiling == null || ceiling.units() == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : ceiling.unitsAt("field ceiling", scale));
    return new Add(counter, delta.unitsAt("field delta", scale), bounds, id, scale);
  }

  /** Creates a request of a transaction or a hold, whose amounts are exact decimals. */
  static Add of(
      String counter, BigDecimal delta, @Nullable BigDecimal floor, @Nullable BigDecimal ceiling) {
    return of(
        counter,
        Decimal.of("delta", delta),
        floor == null ? null : Decimal.of("floor", floor),
        ceiling == null ? null : Decimal.of("ceiling", ceiling),
        null);
  }

  /**
   * Returns this request in units of a counter with this scale.
   *
   * @throws IllegalArgumentException if an amount has more digits after the point, or does not fit
   *     into 64 bits
   */
  public Add at(int counterScale) {
    if (scale == UNITS || scale == counterScale) {
      return this;
    }
    requireDigits(counterScale);
    long units = units("delta", delta, counterScale);
    Bounds converted =
        bounds.isNone()
            ? bounds
            : new Bounds(
                bounds.floor() == Long.MIN_VALUE
                    ? Long.MIN_VALUE
                    : units("floor", bounds.floor(), counterScale),
                bounds.ceiling() == Long.MAX_VALUE
                    ? Long.MAX_VALUE
                    : units("ceiling", bounds.ceiling(), counterScale));
    return new Add(counter, units, converted, id, counterScale);
  }

  /** Names the amount that has more digits than the counter; here all have as many as one. */
  private void requireDigits(int counterScale) {
    if (!bounds.isNone()) {
      requireDigits("delta", delta, counterScale);
      if (bounds.floor() != Long.MIN_VALUE) {
        requireDigits("floor", bounds.floor(), counterScale);
      }
      if (bounds.ceiling() != Long.MAX_VALUE) {
        requireDigits("ceiling", bounds.ceiling(), counterScale);
      }
    }
  }

  private void requireDigits(String field, long amount, int counterScale) {
    int digits = scale;
    long rest = amount;
    while (digits > 0 && rest % 10 == 0) {
      rest /= 10;
      digits--;
    }
    if (digits > counterScale) {
      var unused = new Decimal(rest, digits).unitsAt("field " + field, counterScale); // throws
    }
  }

  private long units(String field, long amount, int counterScale) {
    return new Decimal(amount, scale).unitsAt("field " + field, counterScale);
  }

  /**
   * Returns a hash of the bounds, which distinguishes a repeat from another request under the same
   * id; 0 if there are no bounds.
   */
  public int boundsMark() {
    if (bounds.isNone()) {
      return 0;
    }
    long mixed = bounds.floor() * 0x9E3779B97F4A7C15L + bounds.ceiling();
    mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
    int mark = (int) (mixed >>> 32);
    return mark == 0 ? 1 : mark;
  }
}
