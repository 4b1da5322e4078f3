package dev.quipu.store;

import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Item.Version;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Named values with the operations of memcached, each of them atomic. {@code Store.operations} has
 * them on every store, by these rules:
 *
 * <ul>
 *   <li>A number is a value of decimal digits, from 0 to 2^64 - 1. {@link #incr} beyond the end
 *       begins again at 0; {@link #decr} stops at 0. Both keep the expiry.
 *   <li>A key that is not there is a miss, which is an answer: nothing is made up in its place.
 *   <li>What has expired is not there.
 *   <li>An operation without an answer is unknown: {@link QuipuException#outcome}. Nothing is
 *       repeated.
 * </ul>
 *
 * <p>Where the store is memcached, these are its own commands under the caller's own keys, one
 * round trip each, and other clients of it see the same values. Three things differ from elsewhere:
 * an expiry is a number of whole seconds, rounded up, and ends up to a second early; a number that
 * got shorter has blanks behind it, which {@link Value#number} leaves out; and memcached may drop a
 * value at any time. Elsewhere a value is an item of its own, expiries hold to the millisecond, and
 * operations other than {@code get}, {@code set}, {@code add}, {@code incr} and {@code decr} take
 * two round trips.
 */
public interface AtomicOperations {
  /** Longest key, in bytes of UTF-8. */
  int KEY_BYTES_MAX = 250;

  /** Longest value, in bytes of UTF-8; a store may take less at once. */
  int VALUE_BYTES_MAX = 1_000_000;

  /** Longest expiry. */
  Duration EXPIRY_MAX = Duration.ofDays(365);

  /**
   * What was found under a key.
   *
   * @param version of exactly this state, for {@link #cas}
   */
  record Value(String text, Version version) {
    /**
     * The number that it is, as unsigned 64 bits: {@link Long#toUnsignedString(long)} prints it.
     * Empty if it is none.
     */
    public OptionalLong number() {
      String digits = text.stripTrailing();
      if (!digits.matches("[0-9]{1,20}")) {
        return OptionalLong.empty();
      }
      try {
        return OptionalLong.of(Long.parseUnsignedLong(digits));
      } catch (NumberFormatException e) {
        return OptionalLong.empty(); // above 2^64 - 1
      }
    }
  }

  /** The value under a key; empty on a miss. */
  Optional<Value> get(String key);

  /** Several values, one answer for each key in the same order; not of one moment. */
  List<Optional<Value>> getAll(List<String> keys);

  /**
   * Stores a value, whatever was there.
   *
   * @param expiry how long it stays; empty for as long as the store keeps it
   */
  void set(String key, String value, Optional<Duration> expiry);

  /** Stores a value if nothing is there; false if something is. */
  boolean add(String key, String value, Optional<Duration> expiry);

  /** Stores a value if something is there; false on a miss. */
  boolean replace(String key, String value, Optional<Duration> expiry);

  /** Adds a text behind the value, which keeps its expiry; false on a miss. */
  boolean append(String key, String text);

  /** Adds a text before the value, which keeps its expiry; false on a miss. */
  boolean prepend(String key, String text);

  /** Stores a value if what is there is still the same; false if it is not, or is gone. */
  boolean cas(String key, String value, Version version, Optional<Duration> expiry);

  /**
   * Adds to a number; beyond 2^64 - 1 it begins again at 0.
   *
   * @param delta 0 or more
   * @return the number after it, as unsigned 64 bits; empty on a miss
   * @throws QuipuException with {@link Reason#INVALID} if the value is not a number
   */
  OptionalLong incr(String key, long delta);

  /**
   * Takes from a number, which stops at 0.
   *
   * @param delta 0 or more
   * @return the number after it, as unsigned 64 bits; empty on a miss
   * @throws QuipuException with {@link Reason#INVALID} if the value is not a number
   */
  OptionalLong decr(String key, long delta);

  /** Gives a value another expiry, from now; false on a miss. */
  boolean touch(String key, Optional<Duration> expiry);

  /** Takes a value away; false on a miss. */
  boolean delete(String key);

  /**
   * Returns {@code key} if it is one: 1 to {@link #KEY_BYTES_MAX} bytes of UTF-8, without blanks
   * and control characters.
   *
   * @throws IllegalArgumentException naming the rule that was broken
   */
  static String checkKey(String key) {
    Limits.checkText("key", key, KEY_BYTES_MAX);
    int blank = key.indexOf(' ');
    if (blank >= 0) {
      throw new IllegalArgumentException("key has a blank at position " + blank);
    }
    return key;
  }

  /**
   * Returns {@code value} if it is one: well-formed Unicode without U+0000, which not every store
   * can keep, and at most {@link #VALUE_BYTES_MAX} bytes of UTF-8.
   *
   * @throws IllegalArgumentException naming the rule that was broken
   */
  static String checkValue(String value) {
    if (value.indexOf(0) >= 0 || !StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
      throw new IllegalArgumentException("value has U+0000, or is not well-formed Unicode");
    }
    int bytes = Limits.utf8Length(value);
    if (bytes > VALUE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "value is %d bytes long, the limit is %d".formatted(bytes, VALUE_BYTES_MAX));
    }
    return value;
  }

  /**
   * Returns {@code delta} if it is one.
   *
   * @throws IllegalArgumentException if it is below 0: memcached would take it for a huge number
   */
  static long checkDelta(long delta) {
    if (delta < 0) {
      throw new IllegalArgumentException(
          "delta is %d, the limits are 0 and %d".formatted(delta, Long.MAX_VALUE));
    }
    return delta;
  }

  /**
   * Returns {@code expiry} if it is one.
   *
   * @throws IllegalArgumentException if it is not above 0, or above {@link #EXPIRY_MAX}
   */
  static Optional<Duration> checkExpiry(Optional<Duration> expiry) {
    if (expiry.isPresent()
        && (!expiry.get().isPositive() || expiry.get().compareTo(EXPIRY_MAX) > 0)) {
      throw new IllegalArgumentException(
          "expiry is %s, the limits are above 0 and %s".formatted(expiry.get(), EXPIRY_MAX));
    }
    return expiry;
  }
}
