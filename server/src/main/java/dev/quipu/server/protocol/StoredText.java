package dev.quipu.server.protocol;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What a key may hold in place of a number: a text and its flags, as memcached has them, or a
 * sketch. In its first byte the kind, then for a text four bytes of flags, then the content.
 */
public final class StoredText {
  /** Most bytes of a text: room for what clients keep beside their counters. */
  public static final int BYTES_MAX = 4 << 10;

  private static final byte TEXT = 'T';
  private static final byte SKETCH = 'S';
  private static final byte BEGUN = 'B';
  private static final int HEAD = 5;

  private StoredText() {}

  /** A text. */
  public static byte[] of(int flags, byte[] content) {
    return ByteBuffer.allocate(HEAD + content.length).put(TEXT).putInt(flags).put(content).array();
  }

  /** Nothing yet: a text that a client began by reading it, and means to store. */
  public static byte[] ofBegun() {
    return ByteBuffer.allocate(HEAD).put(BEGUN).array();
  }

  /** Whether a client began it by reading it, and none has stored anything since. */
  public static boolean isBegun(byte[] stored) {
    return stored[0] == BEGUN;
  }

  /** A sketch. */
  public static byte[] ofSketch(byte[] content) {
    return ByteBuffer.allocate(1 + content.length).put(SKETCH).put(content).array();
  }

  /** Whether it is a sketch, and no text. */
  public static boolean isSketch(byte[] stored) {
    return stored[0] == SKETCH;
  }

  /** The flags; 0 of a sketch. */
  public static int flags(byte[] stored) {
    return isSketch(stored) ? 0 : ByteBuffer.wrap(stored).getInt(1);
  }

  /** The content. */
  public static byte[] content(byte[] stored) {
    return Arrays.copyOfRange(stored, isSketch(stored) ? 1 : HEAD, stored.length);
  }
}
