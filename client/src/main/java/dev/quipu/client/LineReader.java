package dev.quipu.client;

import dev.quipu.AddResult;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Reads the result lines of a bulk response, one by one. Most report success, and are short. */
final class LineReader {
  private static final byte[] SUCCESS = ascii("{\"status\":200,\"name\":\"");
  private static final byte[] VALUE = ascii(",\"value\":\"");
  private static final byte[] ADDED = ascii(",\"added\":\"");
  private static final byte[] APPLIED = ascii(",\"replayed\":false}");
  private static final byte[] REPLAYED = ascii(",\"replayed\":true}");
  private static final int DIGITS_MAX = 18; // always fit into a long

  private final byte[] lines;
  private int start;
  private int end = -1;
  private int at;

  LineReader(byte[] lines) {
    this.lines = lines;
  }

  /** Returns the number of lines. */
  static int count(byte[] lines) {
    int count = 0;
    for (byte each : lines) {
      count += each == '\n' ? 1 : 0;
    }
    return lines.length > 0 && lines[lines.length - 1] != '\n' ? count + 1 : count;
  }

  /** Moves to the next line, which must exist. */
  void next() {
    start = end + 1;
    end = start;
    while (end < lines.length && lines[end] != '\n') {
      end++;
    }
    at = start;
  }

  /**
   * Returns the result of the line if it is a success as the server writes it; null if the line
   * must be parsed.
   */
  @Nullable AddResult success() {
    if (!skip(SUCCESS) || !skipName()) {
      return null;
    }
    OptionalLong value = OptionalLong.empty();
    if (skip(VALUE)) {
      long number = number();
      if (at < 0) {
        return null;
      }
      value = OptionalLong.of(number);
    }
    if (!skip(ADDED)) {
      return null;
    }
    long added = number();
    if (at < 0) {
      return null;
    }
    if (skip(APPLIED)) {
      return at == end ? new AddResult.Applied(added, value) : null;
    }
    return skip(REPLAYED) && at == end ? new AddResult.Replayed(added, value) : null;
  }

  /**
   * Parses the line.
   *
   * @throws JacksonException if it is not JSON
   */
  JsonNode parsed() {
    return Request.MAPPER.readTree(lines, start, end - start);
  }

  private boolean skip(byte[] text) {
    if (end - at < text.length) {
      return false;
    }
    for (int i = 0; i < text.length; i++) {
      if (lines[at + i] != text[i]) {
        return false;
      }
    }
    at += text.length;
    return true;
  }

  /** Skips the rest of a text, and its closing quote. */
  private boolean skipName() {
    while (at < end) {
      byte each = lines[at++];
      if (each == '"') {
        return true;
      }
      at += each == '\\' ? 1 : 0;
    }
    return false;
  }

  /** Reads a number, and the quote after it; {@link #at} is negative if there is none. */
  private long number() {
    boolean isNegative = at < end && lines[at] == '-';
    int first = at + (isNegative ? 1 : 0);
    int digit = first;
    long number = 0;
    while (digit < end && lines[digit] >= '0' && lines[digit] <= '9') {
      number = 10 * number + (lines[digit] - '0');
      digit++;
    }
    boolean isNumber =
        digit > first && digit - first <= DIGITS_MAX && digit < end && lines[digit] == '"';
    at = isNumber ? digit + 1 : -1;
    return isNegative ? -number : number;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
