package dev.quipu.server.resp.key;

import dev.quipu.Decimal;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.wire.Reply;

/**
 * Amounts of counters in commands: integers as Redis parses them, or decimals if the counter has a
 * scale. The reply to an amount of a counter with a scale is a bulk string, since integers of the
 * protocol have no point.
 */
public final class Amounts {
  private Amounts() {}

  /** Returns the reply to a number of units. */
  public static Reply reply(long units, int scale) {
    return scale == 0 ? new Reply.Number(units) : Reply.bulk(Decimal.text(units, scale));
  }

  /**
   * Parses an amount of a counter with this scale, in its units.
   *
   * @param otherwise the reply if it is malformed and the counter has no scale
   */
  public static long units(Arguments words, int index, int scale, String otherwise) {
    return scale == 0 ? words.number(index, otherwise) : decimal(words, index, scale);
  }

  /** Parses an amount of a counter with this scale, in its units. */
  public static long units(Arguments words, int index, int scale) {
    return units(words, index, scale, Arguments.NOT_AN_INTEGER);
  }

  /**
   * Parses an amount of a counter whose scale is not known yet.
   *
   * @param field its name, for messages
   */
  public static Decimal amount(Arguments words, int index, String field) {
    try {
      return Decimal.parse(field, words.text(index));
    } catch (IllegalArgumentException e) {
      throw new Rejected("ERR " + e.getMessage());
    }
  }

  /** Parses a decimal, in units of a counter with this scale. */
  static long decimal(Arguments words, int index, int scale) {
    try {
      return Decimal.parse("value", words.text(index)).unitsAt("value", scale);
    } catch (IllegalArgumentException e) {
      throw new Rejected("ERR " + e.getMessage());
    }
  }

  /**
   * Parses the increment of INCRBYFLOAT or HINCRBYFLOAT, in units of a counter.
   *
   * @throws Rejected if the counter has no scale: it is an integer, and no number here is binary
   *     floating point
   */
  public static long fraction(Arguments words, int index, int scale, String instead) {
    if (scale == 0) {
      throw new Rejected("ERR counters are integers unless they have a scale; use " + instead);
    }
    return decimal(words, index, scale);
  }

  /**
   * Returns the units of an integer amount.
   *
   * @param overflow the reply on overflow
   */
  public static long whole(long number, int scale, String overflow) {
    if (scale == 0) {
      return number;
    }
    try {
      return new Decimal(number, 0).unitsAt("value", scale);
    } catch (IllegalArgumentException e) {
      throw new Rejected(overflow);
    }
  }
}
