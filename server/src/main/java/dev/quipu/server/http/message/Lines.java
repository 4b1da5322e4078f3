package dev.quipu.server.http.message;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/*
 * 10,000 lines in 8 MiB, decoded and parsed at once, would take ten times their bytes. They are
 * processed in batches: besides the body and the reply, only one batch is in memory.
 */

/** The lines of a body, batch by batch. Text after the last line feed is a line too. */
public final class Lines {
  static final int LINE_BYTES_MAX = 64 << 10;

  private static final int BATCH_LINES = 1_000;
  private static final int BATCH_BYTES = 256 << 10;

  /** Memory of a batch that is decoded, parsed and replied to, for each of its bytes. */
  private static final int BATCH_MEMORY_FACTOR = 12;

  /** Longest reply to a line, without the name that it repeats. */
  private static final int ANSWER_BYTES = 384;

  /** Maximum number of lines to expect of a body of which only the length is known. */
  private static final int EXPECTED_LINES_MAX = 10_000;

  private static final int EXPECTED_LINE_BYTES = 64;

  private final ByteBuffer body;
  private final int count;
  private final LineParser parser;
  private int next;

  /** A line. Those of a body must be parsed by one thread at a time. */
  public static final class Line {
    private final int number;
    private final ByteBuffer bytes;
    private final LineParser parser;

    private Line(int number, ByteBuffer bytes, LineParser parser) {
      this.number = number;
      this.bytes = bytes;
      this.parser = parser;
    }

    /** Returns its number, from 1. */
    public int number() {
      return number;
    }

    /**
     * Parses the line as a JSON object with no other fields than these.
     *
     * @throws Problem if it is blank, too long, not UTF-8, or not such an object
     */
    public JsonBody json(Set<String> fields) {
      if (bytes.remaining() > LINE_BYTES_MAX) {
        throw Problem.badRequest(
            ("the line has %d bytes; the limit is %d. Shorten it, or keep its line feeds"
                    + " (curl --data-binary)")
                .formatted(bytes.remaining(), LINE_BYTES_MAX));
      }
      if (isBlank()) {
        throw Problem.badRequest("the line is blank; remove it");
      }
      return parser.parse(bytes, fields);
    }

    private boolean isBlank() {
      for (int i = bytes.position(); i < bytes.limit(); i++) {
        if (!Character.isWhitespace(bytes.get(i))) {
          return false;
        }
      }
      return true;
    }
  }

  private Lines(ByteBuffer body, int count) {
    this.body = body;
    this.count = count;
    this.parser = new LineParser(body.duplicate());
  }

  /**
   * Counts the lines of a body in an array. A line that is too long or not UTF-8 is rejected
   * separately, later.
   *
   * @throws Problem if there are more than {@code linesMax}
   */
  static Lines of(ByteBuffer body, int linesMax) {
    int count = 0;
    for (int at = body.position(); at < body.limit(); at = end(body, at) + 1) {
      count++;
    }
    if (count > linesMax) {
      throw Problem.badRequest(
          "request body has %d lines; the limit is %d. Send fewer lines per request"
              .formatted(count, linesMax));
    }
    return new Lines(body.duplicate(), count);
  }

  /** Returns the memory for a batch and for the replies to all lines, in bytes. */
  long memoryBytes() {
    return memoryBytes(body.limit(), count);
  }

  /** Returns the expected memory for a body of this length, besides the body, in bytes. */
  static long expectedBytes(long bodyBytes) {
    return memoryBytes(bodyBytes, Math.min(EXPECTED_LINES_MAX, bodyBytes / EXPECTED_LINE_BYTES));
  }

  private static long memoryBytes(long bodyBytes, long lines) {
    return BATCH_MEMORY_FACTOR * Math.min(bodyBytes, BATCH_BYTES)
        + bodyBytes
        + ANSWER_BYTES * lines;
  }

  /** Returns the next lines; empty at the end. */
  List<Line> nextBatch() {
    List<Line> batch = new ArrayList<>();
    int first = body.position();
    while (body.hasRemaining()
        && batch.size() < BATCH_LINES
        && body.position() - first < BATCH_BYTES) {
      next++;
      batch.add(nextLine());
    }
    return batch;
  }

  /** Returns where the line that begins here ends. */
  private static int end(ByteBuffer body, int from) {
    byte[] array = body.array(); // faster than from the buffer
    int offset = body.arrayOffset();
    int at = offset + from;
    while (at < offset + body.limit() && array[at] != '\n') {
      at++;
    }
    return at - offset;
  }

  private Line nextLine() {
    int end = end(body, body.position());
    ByteBuffer bytes = body.duplicate().limit(end);
    body.position(Math.min(end + 1, body.limit()));
    return new Line(next, bytes, parser);
  }
}
