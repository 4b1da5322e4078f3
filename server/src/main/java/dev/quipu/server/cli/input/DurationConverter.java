package dev.quipu.server.cli.input;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses durations such as 200ms, 30s, 90m, 24h, 7d, or ISO 8601. */
public final class DurationConverter implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String value) {
    try {
      return duration(value);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** Parses a duration. */
  public static Duration duration(String value) {
    String text = value.toUpperCase(Locale.ROOT);
    if (text.matches("[0-9]{1,9}MS")) {
      return Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)));
    }
    boolean days = text.matches("[0-9]{1,4}D");
    String iso = text.startsWith("P") ? text : days ? "P" + text : "PT" + text;
    try {
      return Duration.parse(iso);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "'" + value + "' is not a duration; use a format such as 200ms, 30s, 90m, 24h or 7d", e);
    }
  }
}
