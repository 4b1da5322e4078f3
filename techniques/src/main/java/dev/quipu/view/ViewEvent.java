package dev.quipu.view;

import dev.quipu.Limits;
import java.time.Instant;

/**
 * A view of a page. Two events are the same view if all three parts are equal.
 *
 * @param url of the page: 1 to {@link Limits#URL_BYTES_MAX} bytes of UTF-8
 * @param time of the view, from year 0 to year 9999
 * @param clientId the client that viewed it: 1 to {@link Limits#CLIENT_ID_BYTES_MAX} bytes of UTF-8
 */
public record ViewEvent(String url, Instant time, String clientId) {
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
  }

  static Instant checkTime(String field, Instant time) {
    if (time.isBefore(TIME_MIN) || time.isAfter(TIME_MAX)) {
      throw new IllegalArgumentException(field + " must be from year 0 to year 9999");
    }
    return time;
  }
}
