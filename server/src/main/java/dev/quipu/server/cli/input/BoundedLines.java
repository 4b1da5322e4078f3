package dev.quipu.server.cli.input;

import java.io.IOException;
import java.io.Reader;

/** Reads lines one by one; keeps only the beginning of a line that is too long. */
public final class BoundedLines {
  /** Longest line, in characters. */
  static final int LENGTH_MAX = 1 << 20;

  private static final int BUFFER = 1 << 13;

  private final Reader in;
  private final int lengthMax;
  private final char[] buffer = new char[BUFFER];
  private int at;
  private int end;
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
    if (at == end && !fill()) {
      return false;
    }
    do {
      int first = at;
      while (at < end && buffer[at] != '\n') {
        at++;
      }
      int kept = (int) Math.min(at - first, Math.max(0, lengthMax - length));
      line.append(buffer, first, kept);
      length += at - first;
    } while (at == end && fill());
    at = Math.min(at + 1, end); // after the line break, unless the input has ended
    return true;
  }

  /** Reads more, after all has been used; returns false at the end. */
  private boolean fill() throws IOException {
    int read = in.read(buffer, 0, buffer.length);
    at = 0;
    end = Math.max(0, read);
    return read > 0;
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
