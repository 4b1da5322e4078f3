package dev.quipu.bench.ports.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Counts replies in a stream of bytes without allocation. A reply is a line, or in Redis' protocol
 * {@code *} and a digit N with N lines after it, of which the second is the added delta.
 */
final class ReplyScanner {
  private static final int BYTES = 1 << 16;

  private final Dialect dialect;
  private final byte[] bytes = new byte[BYTES];
  private int column;
  private byte first;
  private byte second;
  private int linesLeft;
  private int line;
  private boolean added;
  private long applied;

  ReplyScanner(Dialect dialect) {
    this.dialect = dialect;
  }

  static ByteBuffer buffer() {
    return ByteBuffer.allocateDirect(BYTES);
  }

  /** Returns the number of replies of applied adds. */
  long applied() {
    return applied;
  }

  /**
   * Scans the bytes that were read.
   *
   * @return the number of completed replies
   */
  int scan(ByteBuffer in) {
    int length = in.remaining();
    in.get(bytes, 0, length);
    int ended = 0;
    for (int i = 0; i < length; i++) {
      if (column >= 2) { // the rest of a line has no meaning
        while (i < length && bytes[i] != '\n') {
          i++;
        }
        if (i == length) {
          break;
        }
      }
      byte each = bytes[i];
      if (each == '\n') {
        ended += lineEnded(i);
        column = 0;
      } else if (column == 0) {
        first = each;
        column = 1;
      } else {
        second = each;
        column = 2;
      }
    }
    return ended;
  }

  private int lineEnded(int at) {
    if (!dialect.isReply(first)) {
      String seen = new String(bytes, 0, at, StandardCharsets.US_ASCII);
      throw new IllegalStateException(
          "not a reply to an add: ..." + seen.substring(Math.max(0, seen.length() - 200)));
    }
    if (linesLeft == 0) {
      if (first == '*') {
        linesLeft = second - '0';
        line = 0;
        return 0;
      }
      added = dialect.isApplied(first, second);
    } else {
      line++;
      if (line == 2) {
        added = dialect.isApplied(first, second);
      }
      linesLeft--;
      if (linesLeft > 0) {
        return 0;
      }
    }
    applied += added ? 1 : 0;
    return 1;
  }
}
