package dev.quipu;

import java.time.Duration;

/** The limits of the API; units come last in their names. */
public final class Limits {
  /** Longest name of a counter, in bytes of UTF-8. */
  public static final int NAME_BYTES_MAX = 512;

  /** Longest request id, in bytes of UTF-8. */
  public static final int REQUEST_ID_BYTES_MAX = 255;

  /** Longest reason of an add, in bytes of UTF-8. */
  public static final int REASON_BYTES_MAX = 1_024;

  /** Longest URL of a view event, in bytes of UTF-8. */
  public static final int URL_BYTES_MAX = 2_048;

  /** Longest client id of a view event, in bytes of UTF-8. */
  public static final int CLIENT_ID_BYTES_MAX = 255;

  /** Largest value of a view event. */
  public static final long VIEW_VALUE_MAX = 1_000_000_000;

  /** Maximum number of adds in one call of {@link Counters#addAll}. */
  public static final int BULK_ADDS_MAX = 10_000;

  /** Checks the number of adds in one call. */
  public static void checkBatch(int adds) {
    if (adds > BULK_ADDS_MAX) {
      throw new IllegalArgumentException(
          "%d adds in one call; the limit is %d. Send several calls"
              .formatted(adds, BULK_ADDS_MAX));
    }
  }

  /** Maximum number of counters in one page of a listing. */
  public static final int PAGE_COUNTERS_MAX = 1_000;

  /** Checks the number of counters that one call reads. */
  public static void checkReads(int counters) {
    if (counters > PAGE_COUNTERS_MAX) {
      throw new IllegalArgumentException(
          "%d counters in one call; the limit is %d. Send several calls"
              .formatted(counters, PAGE_COUNTERS_MAX));
    }
  }

  /**
   * Checks the size of a page.
   *
   * @throws IllegalArgumentException if it is not from 1 to {@code max}
   */
  public static void checkPage(int limit, int max) {
    if (limit < 1 || limit > max) {
      throw new IllegalArgumentException(
          "limit is %d; it must be from 1 to %d".formatted(limit, max));
    }
  }

  /** Shortest time for which request ids are kept. */
  public static final Duration RETENTION_MIN = Duration.ofSeconds(1);

  /** Longest time for which request ids are kept, unless they are kept forever. */
  public static final Duration RETENTION_MAX = Duration.ofDays(366);

  private Limits() {}

  /**
   * Checks for how long request ids are kept.
   *
   * @param name of the option, for the message
   * @return {@code time}
   * @throws IllegalArgumentException if it is shorter than 1 s or longer than 366 days
   */
  public static Duration checkRetention(String name, Duration time) {
    if (time.compareTo(RETENTION_MIN) < 0 || time.compareTo(RETENTION_MAX) > 0) {
      throw new IllegalArgumentException(
          "%s is %s; it must be from %s to %s"
              .formatted(name, text(time), text(RETENTION_MIN), text(RETENTION_MAX)));
    }
    return time;
  }

  /** Returns a duration in the syntax of the command line, such as 500ms, 30s, 24h or 366d. */
  public static String text(Duration time) {
    if (time.isNegative() || time.toNanosPart() % 1_000_000 != 0) {
      return time.toString();
    }
    if (time.toMillisPart() != 0) {
      return time.toMillis() + "ms";
    }
    long seconds = time.toSeconds();
    if (seconds == 0 || seconds % 60 != 0) {
      return seconds + "s";
    }
    if (seconds % 3_600 != 0) {
      return seconds / 60 + "m";
    }
    return seconds % 86_400 == 0 && seconds > 2 * 86_400
        ? seconds / 86_400 + "d"
        : seconds / 3_600 + "h";
  }

  /**
   * Returns {@code text} if it is valid: not empty, well-formed Unicode, no control characters, not
   * longer than {@code bytesMax} in UTF-8.
   *
   * @throws IllegalArgumentException naming {@code field} and the rule that it violates
   */
  public static String checkText(String field, String text, int bytesMax) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(field + " is empty");
    }
    int bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
        throw new IllegalArgumentException(
            "%s has a control character (U+%04X) at position %d".formatted(field, (int) c, i));
      }
      if (!Character.isSurrogate(c)) {
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        bytes += 4;
        i++;
      } else {
        throw new IllegalArgumentException(
            "%s is not well-formed Unicode at position %d".formatted(field, i));
      }
    }
    if (bytes > bytesMax) {
      throw new IllegalArgumentException(
          "%s is %d bytes long; the limit is %d".formatted(field, bytes, bytesMax));
    }
    return text;
  }

  /** Returns the length of {@code text} in bytes of UTF-8. */
  public static int utf8Length(String text) {
    int bytes = text.length();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      bytes += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
    }
    return bytes;
  }
}
