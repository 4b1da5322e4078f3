package dev.quipu.engine.history;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.Locale;

/**
 * A length of time between two boundaries: a minute, an hour or a day of a time zone. Days and
 * hours of a zone with daylight saving time may be shorter or longer than others.
 */
public record HistoryStep(Unit unit, ZoneId zone) {
  /** The shorter ones first. */
  public static final Comparator<HistoryStep> BY_LENGTH =
      Comparator.comparing(HistoryStep::unit).thenComparing(each -> each.zone.getId());

  private static final long MINUTE_MILLIS = 60_000;
  private static final long HOUR_MILLIS = 60 * MINUTE_MILLIS;

  /** A unit of time. */
  public enum Unit {
    MINUTE(ChronoUnit.MINUTES),
    HOUR(ChronoUnit.HOURS),
    DAY(ChronoUnit.DAYS);

    private final ChronoUnit length;

    Unit(ChronoUnit length) {
      this.length = length;
    }
  }

  /**
   * Parses {@code UNIT} or {@code UNIT@ZONE}; the zone is UTC by default.
   *
   * @throws IllegalArgumentException if there is no such unit or zone
   */
  public static HistoryStep parse(String text) {
    int at = text.indexOf('@');
    String unit = at < 0 ? text : text.substring(0, at);
    for (Unit each : Unit.values()) {
      if (each.name().toLowerCase(Locale.ROOT).equals(unit)) {
        return new HistoryStep(each, at < 0 ? ZoneOffset.UTC : zone(text.substring(at + 1)));
      }
    }
    throw new IllegalArgumentException(
        "'%s' is not a step; use minute, hour or day, with a time zone as in day@Europe/Berlin"
            .formatted(text));
  }

  /**
   * Parses a time zone, such as {@code Europe/Berlin}.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static ZoneId zone(String text) {
    try {
      ZoneId zone = ZoneId.of(text).normalized();
      return zone.equals(ZoneOffset.UTC) ? ZoneOffset.UTC : zone;
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "'%s' is not a time zone; use one like Europe/Berlin or UTC".formatted(text), e);
    }
  }

  /** Returns the last boundary that is not after a time, in milliseconds since 1970. */
  public long floor(long millis) {
    if (unit == Unit.MINUTE) { // offsets of zones are whole minutes since 1972
      return Math.floorDiv(millis, MINUTE_MILLIS) * MINUTE_MILLIS;
    }
    if (zone.equals(ZoneOffset.UTC) && unit == Unit.HOUR) {
      return Math.floorDiv(millis, HOUR_MILLIS) * HOUR_MILLIS;
    }
    ZonedDateTime time = Instant.ofEpochMilli(millis).atZone(zone);
    return unit == Unit.DAY
        ? time.toLocalDate().atStartOfDay(zone).toInstant().toEpochMilli()
        : time.truncatedTo(unit.length).toInstant().toEpochMilli();
  }

  /** Returns the first boundary after a time, in milliseconds since 1970. */
  public long next(long millis) {
    if (unit == Unit.DAY) {
      ZonedDateTime time = Instant.ofEpochMilli(millis).atZone(zone);
      return time.toLocalDate().plusDays(1).atStartOfDay(zone).toInstant().toEpochMilli();
    }
    long floor = floor(millis);
    long next = floor + (unit == Unit.MINUTE ? MINUTE_MILLIS : HOUR_MILLIS);
    return floor(next) > floor ? floor(next) : next;
  }

  /** Returns whether a time is a boundary. */
  public boolean isBoundary(long millis) {
    return floor(millis) == millis;
  }

  @Override
  public String toString() {
    String name = unit.name().toLowerCase(Locale.ROOT);
    return zone.equals(ZoneOffset.UTC) ? name : name + "@" + zone.getId();
  }
}
