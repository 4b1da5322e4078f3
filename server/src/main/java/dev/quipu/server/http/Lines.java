package dev.quipu.server.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * 10,000 lines in 8 MiB, all decoded, parsed and answered at once, hold ten times as much. They are
 * taken in batches: besides the body and the answer, only one batch is in memory.
 */

/**
 * The lines of a body, batch by batch. What follows the last line feed is one if it is not empty.
 */
final class Lines {
  static final int LINE_BYTES_MAX = 64 << 10;

  private static final int BATCH_LINES = 1_000;
  private static final int BATCH_BYTES = 256 << 10;

  /** What a batch holds: decoded, parsed and answered, about twelve times its bytes. */
  private static final int BATCH_MEMORY_FACTOR = 12;

  /** An answer repeats the name of its line; the rest of it is no longer than this. */
  private static final int ANSWER_BYTES = 384;

  /** Lines of a body of which nothing but its length is known. */
  private static final int EXPECTED_LINES_MAX = 10_000;

  private static final int EXPECTED_LINE_BYTES = 64;

  private final ByteBuffer body;
  private final int count;
  private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder(); // reports what is not
  private int next;

  /**
   * A line.
   *
   * @param number from 1
   * @param fault why it cannot be read; null if it can
   */
  record Line(int number, String text, @Nullable String fault) {
    /**
     * Reads the line as a JSON object with no other fields than these.
     *
     * @throws Problem if it is blank, too long, not UTF-8, or something else
     */
    JsonBody json(Set<String> fields) {
      if (fault != null) {
        throw Problem.badRequest(fault);
      }
      if (text.isBlank()) {
        throw Problem.badRequest("the line is blank; leave it out");
      }
      return JsonBody.parse("line", text, fields);
    }
  }

  private Lines(ByteBuffer body, int count) {
    this.body = body;
    this.count = count;
  }

  /**
   * Counts the lines. One that is too long or not UTF-8 is rejected alone, when it is read.
   *
   * @throws Problem if there are more than {@code linesMax}
   */
  static Lines of(ByteBuffer body, int linesMax) {
    int count = 0;
    int first = body.position();
    for (int at = body.position(); at < body.limit(); at++) {
      if (body.get(at) == '\n') {
        first = at + 1;
        count++;
      }
    }
    count += first < body.limit() ? 1 : 0;
    if (count > linesMax) {
      throw Problem.badRequest(
          "Request body has %d lines; the limit is %d. Send fewer at once."
              .formatted(count, linesMax));
    }
    return new Lines(body.duplicate(), count);
  }

  /** Returns the memory that a batch, and the answers to all lines, take, in bytes. */
  long memoryBytes() {
    return memoryBytes(body.limit(), count);
  }

  /** Returns what a body of this length is expected to need besides itself, in bytes. */
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

  private Line nextLine() {
    int end = body.position();
    while (end < body.limit() && body.get(end) != '\n') {
      end++;
    }
    ByteBuffer bytes = body.duplicate().limit(end);
    body.position(Math.min(end + 1, body.limit()));
    if (bytes.remaining() > LINE_BYTES_MAX) {
      return new Line(
          next,
          "",
          "the line has %d bytes; the limit is %d. Shorten it"
              .formatted(bytes.remaining(), LINE_BYTES_MAX));
    }
    try {
      return new Line(next, decoder.decode(bytes).toString(), null);
    } catch (CharacterCodingException e) {
      return new Line(next, "", "the line is not valid UTF-8");
    }
  }
}
