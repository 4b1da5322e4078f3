package dev.quipu.server.memcache;

import dev.quipu.Limits;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The words of a command's line. */
final class Line {
  /** Longest key, in bytes, as memcached has it. */
  static final int KEY_BYTES_MAX = 250;

  static final String BAD_FORMAT = "CLIENT_ERROR bad command line format";

  private final byte[] bytes;
  private int[] ends = new int[8];
  private int[] starts = new int[8];
  private int size;

  /** A command cannot be done; the message is the answer. */
  static final class Rejected extends RuntimeException {
    private static final long serialVersionUID = 1;

    Rejected(String answer) {
      super(answer, null, false, false);
    }
  }

  /** Takes a line apart, which is without its end. */
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

  /** Words, the command among them. */
  int size() {
    return size;
  }

  byte[] bytes() {
    return bytes;
  }

  int start(int index) {
    return starts[index];
  }

  int length(int index) {
    return ends[index] - starts[index];
  }

  /** A word for people to read: what is no UTF-8 is replaced. */
  String text(int index) {
    return new String(bytes, starts[index], length(index), StandardCharsets.UTF_8);
  }

  /** The name of a counter. */
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
      throw new Rejected("CLIENT_ERROR the key is not UTF-8, as names of counters are");
    } catch (IllegalArgumentException e) {
      throw new Rejected("CLIENT_ERROR " + e.getMessage());
    }
  }

  /** A signed number. */
  long number(int index, String otherwise) {
    try {
      return Long.parseLong(text(index));
    } catch (NumberFormatException e) {
      throw new Rejected(otherwise);
    }
  }

  /** A number from 0 on, of 64 bits. */
  long unsigned(int index, String otherwise) {
    return unsigned(text(index), otherwise);
  }

  static long unsigned(String word, String otherwise) {
    try {
      if (!word.startsWith("+")) {
        return Long.parseUnsignedLong(word);
      }
    } catch (NumberFormatException e) {
      // told below
    }
    throw new Rejected(otherwise);
  }
}
