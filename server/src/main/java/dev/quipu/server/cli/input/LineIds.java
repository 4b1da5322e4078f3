package dev.quipu.server.cli.input;

import dev.quipu.store.Key;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Creates the request ids of lines that have none, from the source, the text, and its occurrence.
 * So a line has the same id when its file is read again, also after lines were added before it.
 *
 * <p>It counts the occurrences by 64 bits of the hash. Two texts with the same bits share a count,
 * which is harmless: their ids differ by their whole hashes, and are the same whenever the file is
 * read.
 */
public final class LineIds {
  /** Different lines of a file: each takes about 40 bytes of memory. */
  static final int LINES_MAX = 10_000_000;

  private final String source;
  private final int linesMax;
  private final LongObjectMap<Integer> occurrences = new LongObjectHashMap<>();

  /**
   * Creates the ids of a file.
   *
   * @param source the name of the source; lines of another source have other ids
   */
  public LineIds(String source) {
    this(source, LINES_MAX);
  }

  LineIds(String source, int linesMax) {
    this.source = source;
    this.linesMax = linesMax;
  }

  /**
   * Returns the request id of the next line.
   *
   * @throws IllegalArgumentException if the file has too many lines without ids
   */
  public String next(String line) {
    byte[] hash = Key.digest(line.getBytes(StandardCharsets.UTF_8));
    long bits = ByteBuffer.wrap(hash).getLong();
    Integer before = occurrences.get(bits);
    if (before == null && occurrences.size() == linesMax) {
      throw new IllegalArgumentException(
          "id: missing; a file can have %d different lines without one".formatted(linesMax));
    }
    int occurrence = before == null ? 1 : before + 1;
    occurrences.put(bits, (Integer) occurrence);
    String id = "import/" + occurrence + "/" + HexFormat.of().formatHex(hash); // a format is slow
    return source.isEmpty() ? id : source + "/" + id;
  }
}
