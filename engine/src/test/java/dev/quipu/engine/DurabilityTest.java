package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The limits of an interval, and the names of durabilities. */
final class DurabilityTest {
  @Test
  void anIntervalIsFromAMillisecondToAnHour() {
    for (Duration every : List.of(Duration.ofMillis(1), Duration.ofHours(1))) {
      assertEquals(every, new Durability.Interval(every).every());
    }
    for (Duration every :
        List.of(Duration.ofMillis(1).minusNanos(1), Duration.ofHours(1).plusNanos(1))) {
      IllegalArgumentException why =
          assertThrows(IllegalArgumentException.class, () -> new Durability.Interval(every));
      assertEquals("the interval is " + every + "; it must be from 1ms to 1h", why.getMessage());
    }
  }

  @Test
  void eachIsShownByItsName() {
    assertEquals("fsync", Durability.FSYNC.toString());
    assertEquals("none", Durability.NONE.toString());
    assertEquals("interval=2s", new Durability.Interval(Duration.ofSeconds(2)).toString());
  }
}
