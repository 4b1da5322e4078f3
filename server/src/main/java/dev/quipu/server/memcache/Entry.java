package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.StoredText;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;

/*
 * A number without flags, written as a number is, is a counter, and the same counter on every port.
 * Anything else is a text in a counter's place.
 *
 * memcached counts without a sign, from 0 to 2^64 - 1, and then from 0 again. Counters have a sign,
 * and never begin again. So in a namespace that is declared unsigned, the 64 bits of a counter are
 * read as memcached would, and wrap; everywhere else a counter is from 0 to 2^63 - 1 on this port:
 * what would leave that is rejected, and one below 0 can be read, and not counted.
 */

/** What is under a key, as memcached sees it. */
final class Entry {
  private static final int DIGITS_MAX = 20;

  private final boolean isUnsigned;
  private final OptionalLong number;
  private final byte[] text;

  private Entry(boolean isUnsigned, OptionalLong number, byte[] text) {
    this.isUnsigned = isUnsigned;
    this.number = number;
    this.text = text;
  }

  /** What is under a key; empty for nothing. */
  static Optional<Entry> read(CounterAccess turn, String key, boolean isUnsigned) {
    OptionalLong number = turn.get(key);
    if (number.isPresent()) {
      return Optional.of(new Entry(isUnsigned, number, new byte[0]));
    }
    byte[] text = turn.text(key);
    return text == null
        ? Optional.empty()
        : Optional.of(new Entry(isUnsigned, OptionalLong.empty(), text));
  }

  /** A counter. */
  static Entry ofCounter(long bits, boolean isUnsigned) {
    return new Entry(isUnsigned, OptionalLong.of(bits), new byte[0]);
  }

  /** Whether it is a counter. */
  boolean isCounter() {
    return number.isPresent();
  }

  /** The counter's 64 bits. */
  long bits() {
    return number.orElseThrow();
  }

  /** Whether it was begun by {@code mg} with N, and nothing was stored since. */
  boolean isBegun() {
    return !isCounter() && StoredText.isBegun(text);
  }

  /** An empty text that {@code mg} with N begins. */
  static Entry begun(boolean isUnsigned) {
    return new Entry(isUnsigned, OptionalLong.empty(), StoredText.ofBegun());
  }

  /** Puts this under a key, with an expiry in milliseconds since 1970, or 0 for none. */
  void put(CounterAccess turn, String key, long expiresAt) {
    turn.setText(key, text);
    turn.expire(key, expiresAt);
  }

  int flags() {
    return isCounter() ? 0 : StoredText.flags(text);
  }

  byte[] content() {
    return isCounter()
        ? digits(bits(), isUnsigned).getBytes(StandardCharsets.ISO_8859_1)
        : StoredText.content(text);
  }

  /** A counter, written out. */
  static String digits(long bits, boolean isUnsigned) {
    return isUnsigned ? Long.toUnsignedString(bits) : Long.toString(bits);
  }

  /** Puts something under a key, with an expiry in milliseconds since 1970, or 0 for none. */
  static void write(
      CounterAccess turn,
      String key,
      boolean isUnsigned,
      int flags,
      byte[] content,
      long expiresAt) {
    OptionalLong number = flags == 0 ? number(content, isUnsigned) : OptionalLong.empty();
    if (number.isPresent()) {
      turn.set(key, number.getAsLong());
    } else {
      turn.setText(key, StoredText.of(flags, content));
    }
    turn.expire(key, expiresAt);
  }

  /**
   * The number that memcached reads in a text: blanks and a plus may come before it, and anything
   * after a blank; empty if there is none.
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

  /** The number that is written so, and not in any other way; empty if there is none. */
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
