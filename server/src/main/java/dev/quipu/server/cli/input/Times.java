package dev.quipu.server.cli.input;

import dev.quipu.time.Clock;
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
   * Returns the time of an option, in the format of {@link #time}: a date is in the time zone of
   * the server. It may also say how long ago that is.
   *
   * @throws IllegalArgumentException if it is in another format
   */
  static Optional<String> checked(String option, @Nullable String text) {
    if (text == null) {
      return Optional.empty();
    }
    if (text.matches("[0-9]{1,4}[smhd]")) {
      long ago = DurationConverter.duration(text).toMillis();
      return Optional.of(Instant.ofEpochMilli(Clock.system().epochMillis() - ago).toString());
    }
    try {
      Instant unused = time(text);
      return Optional.of(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s: %s, or 2h for two hours ago".formatted(option, e.getMessage()), e);
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
