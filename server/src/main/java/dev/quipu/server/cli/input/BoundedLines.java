package dev.quipu.server.cli.input;

import java.io.IOException;
import java.io.Reader;

/** Reads lines one by one; keeps only the beginning of a line that is too long. */
public final class BoundedLines {
  /** Longest line, in characters. */
  static final int LENGTH_MAX = 1 << 20;

  private final Reader in;
  private final int lengthMax;
  private final StringBuilder line = new StringBuilder();
  private long length;

  public BoundedLines(Reader in) {
    this(in, LENGTH_MAX);
  }

  /**
   * Reads lines of up to this length.
   *
   * @param lengthMax in characters
   */
  public BoundedLines(Reader in, int lengthMax) {
    this.in = in;
    this.lengthMax = lengthMax;
  }

  /** Reads the next line; returns false at the end. */
  public boolean next() throws IOException {
    line.setLength(0);
    length = 0;
    int each = in.read();
    if (each < 0) {
      return false;
    }
    for (; each >= 0 && each != '\n'; each = in.read()) {
      length++;
      if (length <= lengthMax) {
        line.append((char) each);
      }
    }
    return true;
  }

  /** Returns the length of the current line, in characters. */
  public long length() {
    return length;
  }

  /**
   * Returns the current line.
   *
   * @throws IllegalArgumentException if it is too long
   */
  public String line() {
    if (length > lengthMax) {
      throw new IllegalArgumentException(
          "the line has %d characters; the limit is %d".formatted(length, lengthMax));
    }
    boolean hasReturn = !line.isEmpty() && line.charAt(line.length() - 1) == '\r';
    return line.substring(0, line.length() - (hasReturn ? 1 : 0));
  }
}
