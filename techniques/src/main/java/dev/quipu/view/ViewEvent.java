package dev.quipu.view;

import dev.quipu.Limits;
import java.time.Instant;
import java.util.OptionalLong;

/**
 * A view of a page. {@link ViewIdentity} defines which events are the same view.
 *
 * @param url of the page: 1 to {@link Limits#URL_BYTES_MAX} bytes of UTF-8
 * @param time of the view, from year 0 to year 9999
 * @param clientId the client that viewed it: 1 to {@link Limits#CLIENT_ID_BYTES_MAX} bytes of UTF-8
 * @param value what was measured, such as the seconds until the reader left, for {@link
 *     ViewAggregates}: 0 to {@link Limits#VIEW_VALUE_MAX}; empty if nothing was
 */
public record ViewEvent(String url, Instant time, String clientId, OptionalLong value) {
  private static final Instant TIME_MIN = Instant.parse("0000-01-01T00:00:00Z");
  private static final Instant TIME_MAX = Instant.parse("9999-12-31T23:59:59.999999999Z");

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the field that is outside its limits
   */
  public ViewEvent {
    Limits.checkText("url", url, Limits.URL_BYTES_MAX);
    Limits.checkText("clientId", clientId, Limits.CLIENT_ID_BYTES_MAX);
    checkTime("time", time);
    if (value.isPresent() && (value.getAsLong() < 0 || value.getAsLong() > Limits.VIEW_VALUE_MAX)) {
      throw new IllegalArgumentException(
          "value is %d; it must be from 0 to %d"
              .formatted(value.getAsLong(), Limits.VIEW_VALUE_MAX));
    }
  }

  /** Creates an event without a value. */
  public ViewEvent(String url, Instant time, String clientId) {
    this(url, time, clientId, OptionalLong.empty());
  }

  /** Returns this event with a value. */
  public ViewEvent with(long newValue) {
    return new ViewEvent(url, time, clientId, OptionalLong.of(newValue));
  }

  static Instant checkTime(String field, Instant time) {
    if (time.isBefore(TIME_MIN) || time.isAfter(TIME_MAX)) {
      throw new IllegalArgumentException(field + " must be from year 0 to year 9999");
    }
    return time;
  }
}
