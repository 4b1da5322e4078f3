package dev.quipu.verify.contract;

import static dev.quipu.verify.contract.StoreFixture.applied;
import static dev.quipu.verify.contract.StoreFixture.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.layer.ClockComparison;
import dev.quipu.layer.Store;
import dev.quipu.layer.Sweeper;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.verify.pace.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Servers that compare their clocks through items of the store. */
interface ClocksContract extends StoreFixture {
  @Test
  @Needs(Capability.ORDERED_SCAN)
  default void aServerWhoseClockIsADayAheadSeesNothingExpireAndSweepsNothing() {
    ManualClock early = new ManualClock(clock().epochMillis() + Duration.ofDays(1).toMillis());
    Store ahead = new Store(driver(), early);
    ClockComparison right = new ClockComparison(store(), "right");
    ClockComparison wrong = new ClockComparison(ahead, "wrong");
    right.compare();
    applied(store().write(expiring("a", 1)));
    wrong.compare(); // the clocks of others are not known before a second look
    for (int minute = 0; minute < 3; minute++) {
      assertTrue(ahead.get(key("a"), Consistency.STRONG).isPresent(), "minute " + minute);
      assertEquals(0, Sweeper.sweep(ahead));
      clock().advance(ClockComparison.INTERVAL);
      early.advance(ClockComparison.INTERVAL);
      right.compare();
      wrong.compare();
    }
    assertTrue(driver().get(key("a"), Consistency.STRONG).isPresent(), "it was swept");
  }
}
