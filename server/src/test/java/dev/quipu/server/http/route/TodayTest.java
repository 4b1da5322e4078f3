package dev.quipu.server.http.route;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class TodayTest {
  private static final long DAY = Duration.ofDays(1).toMillis();

  private final AtomicLong total = new AtomicLong();
  private final Today today = new Today(total::doubleValue);

  private void add(long atMillis, int adds) {
    today.tick(atMillis);
    total.addAndGet(adds);
  }

  @Test
  void theDayOfTheStartBeginsWithIt() {
    total.set(2); // before the first tick
    add(3 * DAY + 1, 5);
    assertEquals(7, today.growth());
  }

  @Test
  void aDayBeginsAtMidnightUtc() {
    add(3 * DAY + 1, 5);
    add(4 * DAY - 1, 6);
    assertEquals(11, today.growth());
    add(4 * DAY, 7);
    assertEquals(7, today.growth());
    add(9 * DAY, 8); // after days without a tick
    assertEquals(8, today.growth());
  }

  @Test
  void aClockThatIsSetBackDoesNotEndADay() {
    add(4 * DAY + 1, 5);
    add(4 * DAY - 1, 6);
    add(4 * DAY + 2, 7);
    assertEquals(18, today.growth());
  }
}
