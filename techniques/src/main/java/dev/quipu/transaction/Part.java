package dev.quipu.transaction;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.store.Key;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a transaction or a hold adds to one counter.
 *
 * @param delta what it adds, at first
 * @param result of a transaction, the value after it; of a settled hold, what it kept
 */
record Part(String counter, long delta, Bounds bounds, long result) {
  private static final int FIELDS = 5;
  private static final int DIGEST_BYTES = 16;

  static Part of(Add add) {
    return new Part(add.counter(), add.delta(), add.bounds(), 0);
  }

  Part withResult(long other) {
    return new Part(counter, delta, bounds, other);
  }

  private String text() {
    return "%d %d %d %d %s".formatted(delta, bounds.floor(), bounds.ceiling(), result, counter);
  }

  /** Returns parts as a text with a line for each: names contain no control characters. */
  static String text(List<Part> parts) {
    return parts.stream().map(Part::text).collect(Collectors.joining("\n"));
  }

  static List<Part> parsed(String text) {
    return text.lines().map(Part::parsedLine).toList();
  }

  private static Part parsedLine(String line) {
    String[] fields = line.split(" ", FIELDS);
    Bounds bounds = new Bounds(Long.parseLong(fields[1]), Long.parseLong(fields[2]));
    return new Part(fields[4], Long.parseLong(fields[0]), bounds, Long.parseLong(fields[3]));
  }

  /**
   * Returns a digest that distinguishes a repeat from another request under the same id.
   *
   * @param more what the request has besides its adds
   */
  static String digest(List<Add> adds, String more) {
    String all = more + "\n" + text(adds.stream().map(Part::of).toList());
    byte[] digest = Key.digest(all.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
  }
}
