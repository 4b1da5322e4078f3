package dev.quipu.server.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The header {@code Date} of replies, formatted once a second. Thread-safe. */
final class HttpDate {
  private static final int MILLIS = 1_000;
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private volatile Second last = new Second(Long.MIN_VALUE, "");

  private record Second(long second, String text) {}

  /** Returns the date as of RFC 9110, such as {@code Sun, 06 Nov 1994 08:49:37 GMT}. */
  String text(long epochMillis) {
    long second = Math.floorDiv(epochMillis, MILLIS);
    Second found = last;
    if (found.second != second) {
      found = new Second(second, FORMAT.format(Instant.ofEpochSecond(second)));
      last = found;
    }
    return found.text;
  }
}
