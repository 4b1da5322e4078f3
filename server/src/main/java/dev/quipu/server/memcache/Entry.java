package dev.quipu.server.memcache;

import dev.quipu.Decimal;
import dev.quipu.Reading;
import dev.quipu.server.protocol.StoredText;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/*
 * A canonical decimal number without flags is a counter, the same on every port. Anything else is a
 * text in place of a counter.
 *
 * Counters of memcached are unsigned and wrap at 2^64; counters of the engine are signed and never
 * wrap. In a namespace that is declared unsigned, the 64 bits of a counter are interpreted as in
 * memcached and wrap. Everywhere else a counter ranges from 0 to 2^63 - 1 on this port: increments
 * beyond are rejected, and negative counters are read-only.
 */

/** The value of a key in terms of memcached. */
final class Entry {
  private static final int DIGITS_MAX = 20;

  private final boolean isUnsigned;
  private final OptionalLong number;
  private final int scale;
  private final byte[] text;

  private Entry(boolean isUnsigned, OptionalLong number, int scale, byte[] text) {
    this.isUnsigned = isUnsigned;
    this.number = number;
    this.scale = scale;
    this.text = text;
  }

  /** Creates the entry of a text, encoded as {@link StoredText}. */
  static Entry ofText(byte[] text, boolean isUnsigned) {
    return new Entry(isUnsigned, OptionalLong.empty(), 0, text);
  }

  /** Creates the entry of a counter. */
  static Entry ofCounter(long bits, boolean isUnsigned) {
    return new Entry(isUnsigned, OptionalLong.of(bits), 0, new byte[0]);
  }

  /** Creates the entry of a counter that may have a scale. */
  static Entry ofCounter(Reading reading, boolean isUnsigned) {
    OptionalLong units = OptionalLong.of(reading.value());
    return new Entry(isUnsigned, units, reading.scale(), new byte[0]);
  }

  /** Rejects increments of a decimal: memcached counts integers. */
  void requireInteger() {
    Slot.requireInteger(scale);
  }

  /** Returns whether it is a counter. */
  boolean isCounter() {
    return number.isPresent();
  }

  /** Returns the 64 bits of the counter. */
  long bits() {
    return number.orElseThrow();
  }

  /** Returns whether it is a placeholder of {@code mg} with N that was not stored to since. */
  boolean isPlaceholder() {
    return !isCounter() && StoredText.isPlaceholder(text);
  }

  int flags() {
    return isCounter() ? 0 : StoredText.flags(text);
  }

  byte[] content() {
    if (!isCounter()) {
      return StoredText.content(text);
    }
    String digits =
        isUnsigned && scale == 0 ? Long.toUnsignedString(bits()) : Decimal.text(bits(), scale);
    return digits.getBytes(StandardCharsets.ISO_8859_1);
  }

  /**
   * Parses a number as leniently as memcached: whitespace and a plus sign may precede it, and
   * anything may follow after whitespace; empty if there is none.
   */
  static OptionalLong lenient(byte[] content) {
    int at = 0;
    while (at < content.length && isBlank(content[at])) {
      at++;
    }
    at += at < content.length && content[at] == '+' ? 1 : 0;
    int start = at;
    while (at < content.length && content[at] >= '0' && content[at] <= '9') {
      at++;
    }
    boolean isEnd = at == content.length || isBlank(content[at]);
    if (at == start || !isEnd) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(
          Long.parseUnsignedLong(
              new String(content, start, at - start, StandardCharsets.ISO_8859_1)));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  private static boolean isBlank(byte each) {
    return each == ' ' || (each >= '\t' && each <= '\r');
  }

  /** Parses a canonical decimal number; empty if it is anything else. */
  static OptionalLong number(byte[] content, boolean isUnsigned) {
    if (content.length == 0
        || content.length > DIGITS_MAX
        || (content[0] == '0' && content.length > 1)) {
      return OptionalLong.empty();
    }
    for (byte each : content) {
      if (each < '0' || each > '9') {
        return OptionalLong.empty();
      }
    }
    try {
      String digits = new String(content, StandardCharsets.ISO_8859_1);
      return OptionalLong.of(isUnsigned ? Long.parseUnsignedLong(digits) : Long.parseLong(digits));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
