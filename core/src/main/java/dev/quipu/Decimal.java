package dev.quipu;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An exact decimal number: {@code units} times ten to the power of {@code -scale}. Its text has
 * exactly {@code scale} digits after the point.
 *
 * <p>A counter with a scale stores units. Digits count as they are written: 1.50 has two.
 *
 * @param units the number without its point
 * @param scale the number of digits after the point, 0 to {@link #SCALE_MAX}
 */
public record Decimal(long units, int scale) {
  /** Maximum number of digits after the point. */
  public static final int SCALE_MAX = 18;

  /** Longest text of a number. */
  private static final int CHARACTERS_MAX = 64;

  /** With exponents that fit into 32 bits; what they stand for is checked, not written out. */
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?0*[0-9]{1,9})?");

  /** Length of an integer that fits into 64 bits for certain. */
  private static final int SHORT_MAX = 18;

  /** Number of digits that no number of 64 bits has. */
  private static final int DIGITS_BEYOND = 20;

  /**
   * Creates a number.
   *
   * @throws IllegalArgumentException if the scale is not 0 to 18
   */
  public Decimal {
    checkScale(scale);
  }

  /**
   * Returns {@code scale} if it is one.
   *
   * @throws IllegalArgumentException if it is not 0 to 18
   */
  public static int checkScale(long scale) {
    if (scale < 0 || scale > SCALE_MAX) {
      throw new IllegalArgumentException(
          "scale is %d; it must be from 0 to %d".formatted(scale, SCALE_MAX));
    }
    return (int) scale;
  }

  /**
   * Parses a number in the syntax of JSON, such as 1, -0.25 or 2.5e3, exactly. One with an exponent
   * has at least one digit after the point, since it is not written as an integer.
   *
   * @param field its name, for messages
   * @throws IllegalArgumentException naming the field if it is not a number, has more than 18
   *     digits after the point, or does not fit into 64 bits with them
   */
  public static Decimal parse(String field, String text) {
    if (isShortInteger(text)) {
      return new Decimal(Long.parseLong(text), 0);
    }
    if (text.length() > CHARACTERS_MAX) {
      throw new IllegalArgumentException(
          "%s has %d characters; the limit of a number is %d. Shorten it"
              .formatted(field, text.length(), CHARACTERS_MAX));
    }
    Matcher number = NUMBER.matcher(text);
    if (!number.matches()) {
      throw new IllegalArgumentException(
          "%s is not an integer or a decimal of at most %d characters; send one such as 1 or -0.25"
              .formatted(field, CHARACTERS_MAX));
    }
    BigDecimal exact = new BigDecimal(text);
    return of(field, exact, number.group(3) == null ? 0 : 1);
  }

  private static boolean isShortInteger(String text) {
    int digits = text.startsWith("-") ? 1 : 0;
    int length = text.length();
    if (length == digits || length > SHORT_MAX || (text.charAt(digits) == '0' && length > 1)) {
      return false;
    }
    for (int i = digits; i < length; i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns an exact number with as many digits after the point as it has.
   *
   * @param field its name, for messages
   * @throws IllegalArgumentException if it has more than 18, or does not fit into 64 bits with them
   */
  public static Decimal of(String field, BigDecimal number) {
    return of(field, number, 0);
  }

  private static Decimal of(String field, BigDecimal number, int scaleMin) {
    int scale = Math.max(scaleMin, number.scale());
    if (scale > SCALE_MAX) {
      throw new IllegalArgumentException(
          "%s has %d digits after the point; the limit is %d".formatted(field, scale, SCALE_MAX));
    }
    long digits = (long) number.precision() - number.scale() + scale;
    if (number.signum() != 0 && digits > DIGITS_BEYOND) {
      throw tooLarge(field, scale); // before its digits are written out
    }
    if (number.signum() == 0) {
      return new Decimal(0, scale);
    }
    try {
      return new Decimal(number.setScale(scale).unscaledValue().longValueExact(), scale);
    } catch (ArithmeticException e) {
      throw tooLarge(field, scale);
    }
  }

  private static IllegalArgumentException tooLarge(String field, int scale) {
    return new IllegalArgumentException(
        "%s does not fit into 64 bits; with %d %s after the point it must be from %s to %s"
            .formatted(
                field,
                scale,
                scale == 1 ? "digit" : "digits",
                text(Long.MIN_VALUE, scale),
                text(Long.MAX_VALUE, scale)));
  }

  /**
   * Returns the units of this number on a counter.
   *
   * @param field its name, for messages
   * @param of the scale of the counter
   * @throws IllegalArgumentException if this number has more digits after the point, even if they
   *     are 0, or does not fit into 64 bits
   */
  public long unitsAt(String field, int of) {
    if (scale > of) {
      throw new IllegalArgumentException(
          of == 0
              ? ("%s is not an integer; it must be one from %d to %d. A new counter can have a"
                      + " scale, by serve --scale or PUT with scale")
                  .formatted(field, Long.MIN_VALUE, Long.MAX_VALUE)
              : "%s has %d digits after the point; the limit is %d, the scale of the counter"
                  .formatted(field, scale, of));
    }
    long at = units;
    for (int i = scale; i < of; i++) {
      long next = at * 10;
      if (next / 10 != at) {
        throw tooLarge(field, of);
      }
      at = next;
    }
    return at;
  }

  /** Returns units as a decimal text with exactly {@code scale} digits after the point. */
  public static String text(long units, int scale) {
    return scale == 0 ? Long.toString(units) : BigDecimal.valueOf(units, scale).toPlainString();
  }

  /** Returns this number with the same scale. */
  public BigDecimal toBigDecimal() {
    return BigDecimal.valueOf(units, scale);
  }

  @Override
  public String toString() {
    return text(units, scale);
  }
}
