package dev.quipu.server.cli.input;

import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses times. */
public final class Times {
  private Times() {}

  /**
   * Checks the time of an option, which a server parses in its time zone.
   *
   * @throws IllegalArgumentException if it is in another format than {@link #time} parses
   */
  static Optional<String> checked(String option, @Nullable String text) {
    try {
      Optional<Instant> unused = Optional.ofNullable(text).map(Times::time);
      return Optional.ofNullable(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(option + ": " + e.getMessage(), e);
    }
  }

  /**
   * Parses a time such as 2022-03-28T13:17:23+00:00, or a date, which begins at midnight in UTC.
   *
   * @throws IllegalArgumentException if it is in another format
   */
  public static Instant time(String text) {
    try {
      return text.matches("[0-9]{4}-[0-9]{2}-[0-9]{2}")
          ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
          : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "'%s' is not a valid timestamp; use the format 2022-03-28T13:17:23+00:00 or 2022-03-28"
              .formatted(text),
          e);
    }
  }
}
