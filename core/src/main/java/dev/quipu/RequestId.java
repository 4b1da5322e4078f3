package dev.quipu;

import dev.quipu.time.Randomness;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The caller's name for one logical request: an add that is repeated under the same id counts
 * exactly once.
 *
 * <p>Create it before the first attempt and keep it until there is a definite result. An order
 * number or the id of a queue message is suitable. An id belongs to one counter: the same id on
 * another counter is another request.
 *
 * <p>Every id has a 128-bit form. A text of 32 lower-case hexadecimal digits is its own 128-bit
 * form; any other text is reduced by SHA-256, cut to 128 bits, so that two texts cannot be made to
 * collide. Ids are equal when their 128-bit forms are.
 */
public final class RequestId {
  private static final int HEX_DIGITS = 32;
  private static final HexFormat HEX = HexFormat.of();
  private static final ThreadLocal<MessageDigest> SHA_256 =
      ThreadLocal.withInitial(RequestId::sha256);

  private final long high;
  private final long low;
  private @Nullable String text;

  private RequestId(long high, long low, @Nullable String text) {
    this.high = high;
    this.low = low;
    this.text = text;
  }

  /**
   * Returns the id with this text.
   *
   * @param text 1 to {@link Limits#REQUEST_ID_BYTES_MAX} bytes of UTF-8, no control characters
   * @throws IllegalArgumentException if {@code text} violates one of these rules
   */
  public static RequestId of(String text) {
    Limits.checkText("request id", text, Limits.REQUEST_ID_BYTES_MAX);
    if (isHex(text)) {
      return of(
          Long.parseUnsignedLong(text, 0, HEX_DIGITS / 2, 16),
          Long.parseUnsignedLong(text, HEX_DIGITS / 2, HEX_DIGITS, 16));
    }
    byte[] hash = SHA_256.get().digest(text.getBytes(StandardCharsets.UTF_8));
    ByteBuffer buffer = ByteBuffer.wrap(hash);
    return new RequestId(buffer.getLong(), buffer.getLong(), text);
  }

  /**
   * Returns the id with a text in ASCII, which is not kept: {@link #text} returns its 128 bits.
   *
   * @return null if the text has other bytes, control characters among them, or is empty or longer
   *     than {@link Limits#REQUEST_ID_BYTES_MAX}
   */
  public static @Nullable RequestId ofAscii(byte[] bytes, int from, int length) {
    if (length < 1 || length > Limits.REQUEST_ID_BYTES_MAX) {
      return null;
    }
    boolean isHex = length == HEX_DIGITS;
    for (int i = from; i < from + length; i++) {
      byte each = bytes[i];
      if (each < ' ' || each == 0x7f) { // above 0x7f it is negative
        return null;
      }
      isHex &= (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
    }
    if (isHex) {
      return of(new String(bytes, from, length, StandardCharsets.US_ASCII));
    }
    MessageDigest digest = SHA_256.get();
    digest.update(bytes, from, length);
    ByteBuffer hash = ByteBuffer.wrap(digest.digest());
    return of(hash.getLong(), hash.getLong());
  }

  /** Returns the id with these 128 bits; its text is their 32 hexadecimal digits. */
  public static RequestId of(long high, long low) {
    return new RequestId(high, low, null);
  }

  /** Returns a new unique id. */
  public static RequestId random() {
    return random(Randomness.secure());
  }

  /** Returns a new id from a source of randomness. */
  public static RequestId random(RandomGenerator random) {
    return of(random.nextLong(), random.nextLong());
  }

  /** Returns the 128 bits in hexadecimal, which are equal for equal ids. */
  public String bits() {
    return HEX.toHexDigits(high) + HEX.toHexDigits(low);
  }

  /** Returns the upper 64 of the 128 bits. */
  public long high() {
    return high;
  }

  /** Returns the lower 64 of the 128 bits. */
  public long low() {
    return low;
  }

  /** Returns the text that the caller gave, or the 128 bits in hexadecimal. */
  public String text() {
    String known = text;
    if (known == null) {
      known = bits();
      text = known; // a benign race: every thread computes the same text
    }
    return known;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RequestId id && id.high == high && id.low == low;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(high ^ low);
  }

  @Override
  public String toString() {
    return text();
  }

  private static boolean isHex(String text) {
    if (text.length() != HEX_DIGITS) {
      return false;
    }
    for (int i = 0; i < HEX_DIGITS; i++) {
      char c = text.charAt(i);
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
        return false;
      }
    }
    return true;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) { // every Java platform must have SHA-256
      throw new IllegalStateException(impossible);
    }
  }
}
