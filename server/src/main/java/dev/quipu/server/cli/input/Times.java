package dev.quipu.server.cli.input;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;

/** Parses times. */
public final class Times {
  private Times() {}

  /**
   * Parses a time such as 2022-03-28T13:17:23+00:00.
   *
   * @throws IllegalArgumentException if it is in another format
   */
  public static Instant time(String text) {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a valid timestamp; use the format 2022-03-28T13:17:23+00:00", e);
    }
  }
}
