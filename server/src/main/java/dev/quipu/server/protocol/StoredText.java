package dev.quipu.server.protocol;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Encoding of values that are not numbers: a text with memcached flags, or a sketch. Layout: one
 * byte for the kind, four bytes of flags (texts only), the content.
 */
public final class StoredText {
  /** Maximum size of a text: enough for small values that clients keep beside their counters. */
  public static final int BYTES_MAX = 4 << 10;

  private static final byte TEXT = 'T';
  private static final byte SKETCH = 'S';
  private static final byte PLACEHOLDER = 'B';
  private static final int HEAD = 5;

  private StoredText() {}

  /** Encodes a text. */
  public static byte[] of(int flags, byte[] content) {
    return ByteBuffer.allocate(HEAD + content.length).put(TEXT).putInt(flags).put(content).array();
  }

  /** Encodes an empty placeholder: a vivified text that its reader is going to store. */
  public static byte[] ofPlaceholder() {
    return ByteBuffer.allocate(HEAD).put(PLACEHOLDER).array();
  }

  /** Returns whether a value is a placeholder that was not stored to since. */
  public static boolean isPlaceholder(byte[] stored) {
    return stored[0] == PLACEHOLDER;
  }

  /** Encodes a sketch. */
  public static byte[] ofSketch(byte[] content) {
    return ByteBuffer.allocate(1 + content.length).put(SKETCH).put(content).array();
  }

  /** Returns whether a value is a sketch. */
  public static boolean isSketch(byte[] stored) {
    return stored[0] == SKETCH;
  }

  /** Returns the flags; 0 for a sketch. */
  public static int flags(byte[] stored) {
    return isSketch(stored) ? 0 : ByteBuffer.wrap(stored).getInt(1);
  }

  /** Returns the content. */
  public static byte[] content(byte[] stored) {
    return Arrays.copyOfRange(stored, isSketch(stored) ? 1 : HEAD, stored.length);
  }
}
