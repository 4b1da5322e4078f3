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
 * Atomic operations on named values, as memcached defines them. {@code Store.operations} offers
 * them on every store, by these rules:
 *
 * <ul>
 *   <li>A number is a value of decimal digits, from 0 to 2^64 - 1. {@link #incr} wraps around to 0
 *       after the maximum; {@link #decr} stops at 0. Both keep the expiry.
 *   <li>A missing key is a miss, which is a regular result: no default value is created.
 *   <li>An expired value counts as missing.
 *   <li>The outcome of an operation without an answer is unknown: {@link QuipuException#outcome}.
 *       Operations are not retried.
 * </ul>
 *
 * <p>On memcached, these are its native commands under the caller's keys, one round trip each, and
 * other clients see the same values. Three things differ from other stores: an expiry is rounded up
 * to whole seconds and may end up to a second early; a number that became shorter is padded with
 * trailing blanks, which {@link Value#number} ignores; and memcached may evict a value at any time.
 * On other stores, each value is an item, expiries are exact to the millisecond, and operations
 * other than {@code get}, {@code set}, {@code add}, {@code incr} and {@code decr} take two round
 * trips.
 */
public interface AtomicOperations {
  /** Longest key, in bytes of UTF-8. */
  int KEY_BYTES_MAX = 250;

  /** Longest value, in bytes of UTF-8; a store may have a smaller limit. */
  int VALUE_BYTES_MAX = 1_000_000;

  /** Longest expiry. */
  Duration EXPIRY_MAX = Duration.ofDays(365);

  /**
   * A value that was found under a key.
   *
   * @param version identifies exactly this state, for {@link #cas}
   */
  record Value(String text, Version version) {
    /**
     * Returns the value as an unsigned 64-bit number, which {@link Long#toUnsignedString(long)}
     * prints; empty if the value is not a number.
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

  /** Returns the value of a key; empty on a miss. */
  Optional<Value> get(String key);

  /**
   * Returns the values of several keys, in the order of the keys. The values are not a snapshot of
   * one moment.
   */
  List<Optional<Value>> getAll(List<String> keys);

  /**
   * Stores a value, whether or not the key exists.
   *
   * @param expiry time to live; empty for no expiry
   */
  void set(String key, String value, Optional<Duration> expiry);

  /** Stores a value if the key is missing; returns false if it exists. */
  boolean add(String key, String value, Optional<Duration> expiry);

  /** Stores a value if the key exists; returns false on a miss. */
  boolean replace(String key, String value, Optional<Duration> expiry);

  /** Appends text to the value, which keeps its expiry; returns false on a miss. */
  boolean append(String key, String text);

  /** Prepends text to the value, which keeps its expiry; returns false on a miss. */
  boolean prepend(String key, String text);

  /**
   * Stores a value if the stored version is still {@code version}; returns false if it changed or
   * the key is missing.
   */
  boolean cas(String key, String value, Version version, Optional<Duration> expiry);

  /**
   * Increments a number, wrapping around to 0 after 2^64 - 1.
   *
   * @param delta 0 or more
   * @return the resulting number, as unsigned 64 bits; empty on a miss
   * @throws QuipuException with {@link Reason#INVALID} if the value is not a number
   */
  OptionalLong incr(String key, long delta);

  /**
   * Decrements a number, stopping at 0.
   *
   * @param delta 0 or more
   * @return the resulting number, as unsigned 64 bits; empty on a miss
   * @throws QuipuException with {@link Reason#INVALID} if the value is not a number
   */
  OptionalLong decr(String key, long delta);

  /** Sets the expiry of a value, counted from now; returns false on a miss. */
  boolean touch(String key, Optional<Duration> expiry);

  /** Deletes a value; returns false on a miss. */
  boolean delete(String key);

  /**
   * Returns {@code key} if it is valid: 1 to {@link #KEY_BYTES_MAX} bytes of UTF-8, without blanks
   * and control characters.
   *
   * @throws IllegalArgumentException if it is not valid, naming the rule
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
   * Returns {@code value} if it is valid: well-formed Unicode without U+0000, which some stores
   * cannot keep, and at most {@link #VALUE_BYTES_MAX} bytes of UTF-8.
   *
   * @throws IllegalArgumentException if it is not valid, naming the rule
   */
  static String checkValue(String value) {
    if (value.indexOf(0) >= 0 || !StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
      throw new IllegalArgumentException("value contains U+0000 or is not well-formed Unicode");
    }
    int bytes = Limits.utf8Length(value);
    if (bytes > VALUE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "value is %d bytes long; the limit is %d".formatted(bytes, VALUE_BYTES_MAX));
    }
    return value;
  }

  /**
   * Returns {@code delta} if it is valid.
   *
   * @throws IllegalArgumentException if it is negative: memcached would read it as a huge number
   */
  static long checkDelta(long delta) {
    if (delta < 0) {
      throw new IllegalArgumentException(
          "delta is %d; it must be from 0 to %d".formatted(delta, Long.MAX_VALUE));
    }
    return delta;
  }

  /**
   * Returns {@code expiry} if it is valid.
   *
   * @throws IllegalArgumentException if it is not positive, or above {@link #EXPIRY_MAX}
   */
  static Optional<Duration> checkExpiry(Optional<Duration> expiry) {
    if (expiry.isPresent()
        && (!expiry.get().isPositive() || expiry.get().compareTo(EXPIRY_MAX) > 0)) {
      throw new IllegalArgumentException(
          "expiry is %s; it must be positive and at most %s".formatted(expiry.get(), EXPIRY_MAX));
    }
    return expiry;
  }
}
