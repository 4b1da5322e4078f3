package dev.quipu.server.memcache;

import dev.quipu.Limits;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The words of a command line. */
final class Line {
  /** Maximum length of a key in bytes, as in memcached. */
  static final int KEY_BYTES_MAX = 250;

  static final String BAD_FORMAT = "CLIENT_ERROR bad command line format";

  /** The object and the headers of its arrays. */
  private static final int OVERHEAD_BYTES = 80;

  private final byte[] bytes;
  private int[] ends = new int[8];
  private int[] starts = new int[8];
  private int size;

  /** A command was rejected; the message is the reply. */
  static final class Rejected extends RuntimeException {
    private static final long serialVersionUID = 1;

    Rejected(String answer) {
      super(answer, null, false, false);
    }
  }

  /** Splits a line, given without its line end. */
  Line(byte[] bytes) {
    this.bytes = bytes;
    int at = 0;
    while (at < bytes.length) {
      int start = at;
      while (at < bytes.length && bytes[at] != ' ') {
        at++;
      }
      if (at > start) {
        add(start, at);
      }
      at++;
    }
  }

  private void add(int start, int end) {
    if (size == starts.length) {
      starts = Arrays.copyOf(starts, 2 * size);
      ends = Arrays.copyOf(ends, 2 * size);
    }
    starts[size] = start;
    ends[size++] = end;
  }

  /** Returns the number of words, including the command. */
  int size() {
    return size;
  }

  byte[] bytes() {
    return bytes;
  }

  /** Returns the memory held by the line and the places of its words, in bytes. */
  long heldBytes() {
    return OVERHEAD_BYTES + bytes.length + (long) Integer.BYTES * (starts.length + ends.length);
  }

  int start(int index) {
    return starts[index];
  }

  int length(int index) {
    return ends[index] - starts[index];
  }

  /** Returns a word as text; malformed UTF-8 is replaced. */
  String text(int index) {
    return new String(bytes, starts[index], length(index), StandardCharsets.UTF_8);
  }

  /** Returns whether a word is valid UTF-8. */
  boolean isUtf8(int index) {
    byte[] word = Arrays.copyOfRange(bytes, starts[index], ends[index]);
    return Arrays.equals(word, text(index).getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a key. */
  String key(int index) {
    return key(Arrays.copyOfRange(bytes, starts[index], ends[index]));
  }

  static String key(byte[] word) {
    if (word.length > KEY_BYTES_MAX) {
      throw new Rejected(BAD_FORMAT);
    }
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(word)).toString();
      return Limits.checkText("key", text, KEY_BYTES_MAX);
    } catch (CharacterCodingException e) {
      throw new Rejected("CLIENT_ERROR key is not valid UTF-8");
    } catch (IllegalArgumentException e) {
      throw new Rejected("CLIENT_ERROR " + e.getMessage());
    }
  }

  /** Parses a signed number; {@code otherwise} is the reply if it is malformed. */
  long number(int index, String otherwise) {
    try {
      return Long.parseLong(text(index));
    } catch (NumberFormatException e) {
      throw new Rejected(otherwise);
    }
  }

  /** Parses an unsigned 64-bit number; {@code otherwise} is the reply if it is malformed. */
  long unsigned(int index, String otherwise) {
    return unsigned(text(index), otherwise);
  }

  static long unsigned(String word, String otherwise) {
    try {
      if (!word.startsWith("+")) {
        return Long.parseUnsignedLong(word);
      }
    } catch (NumberFormatException e) {
      // rejected below
    }
    throw new Rejected(otherwise);
  }
}
