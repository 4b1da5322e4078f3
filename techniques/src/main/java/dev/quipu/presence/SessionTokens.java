package dev.quipu.presence;

import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Tokens that hold a name and a time, and that only the owner of a key can make: HMAC-SHA256.
 * Thread-safe.
 *
 * <p>A token is {@value #LENGTH} characters of base64url: a version, the time in milliseconds, 16
 * bytes of the digest of the name, and the code of these.
 */
public final class SessionTokens {
  /** Length of a token, in characters. */
  public static final int LENGTH = 76;

  /** Minimum length of a key, in bytes. */
  public static final int KEY_BYTES_MIN = 32;

  private static final String ALGORITHM = "HmacSHA256";
  private static final byte VERSION = 1;
  private static final int NAME_BYTES = 16;
  private static final int CONTENT_BYTES = 1 + Long.BYTES + NAME_BYTES;

  private final SecretKeySpec key;

  /**
   * Creates tokens with a key, which is the same in all processes.
   *
   * @throws IllegalArgumentException if it is shorter than {@link #KEY_BYTES_MIN}
   */
  public SessionTokens(byte[] key) {
    if (key.length < KEY_BYTES_MIN) {
      throw new IllegalArgumentException(
          "the session key has %d bytes; the minimum is %d".formatted(key.length, KEY_BYTES_MIN));
    }
    this.key = new SecretKeySpec(key, ALGORITHM);
  }

  /** Returns a token for a name and a time. */
  public String issue(String name, Instant time) {
    byte[] content =
        ByteBuffer.allocate(CONTENT_BYTES)
            .put(VERSION)
            .putLong(time.toEpochMilli())
            .put(digest(name))
            .array();
    byte[] code = code(content);
    byte[] all = ByteBuffer.allocate(content.length + code.length).put(content).put(code).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(all);
  }

  /**
   * Returns the time in a token.
   *
   * @throws IllegalArgumentException if the token is malformed, was changed, was made with another
   *     key, or is for another name
   */
  public Instant time(String name, String token) {
    byte[] all = decoded(token);
    byte[] content = Arrays.copyOf(all, CONTENT_BYTES);
    byte[] code = Arrays.copyOfRange(all, CONTENT_BYTES, all.length);
    if (!MessageDigest.isEqual(code, code(content))) { // in constant time
      throw new IllegalArgumentException(
          "the session token was changed, or was made with another key; start a session without");
    }
    ByteBuffer fields = ByteBuffer.wrap(content);
    if (fields.get() != VERSION) {
      throw malformed();
    }
    long millis = fields.getLong();
    byte[] owner = new byte[NAME_BYTES];
    fields.get(owner);
    if (!MessageDigest.isEqual(owner, digest(name))) {
      throw new IllegalArgumentException(
          "the session token is for another room or window; send the token of this room");
    }
    return Instant.ofEpochMilli(millis);
  }

  private static byte[] decoded(String token) {
    if (token.length() != LENGTH) {
      throw malformed();
    }
    try {
      return Base64.getUrlDecoder().decode(token);
    } catch (IllegalArgumentException e) {
      throw malformed();
    }
  }

  private static IllegalArgumentException malformed() {
    return new IllegalArgumentException(
        "malformed session token; send the %d characters of the last reply, or none"
            .formatted(LENGTH));
  }

  private static byte[] digest(String name) {
    return Arrays.copyOf(Key.digest(name.getBytes(StandardCharsets.UTF_8)), NAME_BYTES);
  }

  private byte[] code(byte[] content) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac.doFinal(content);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every Java platform has HmacSHA256
    }
  }
}
