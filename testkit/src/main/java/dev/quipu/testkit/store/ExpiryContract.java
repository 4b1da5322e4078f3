package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.key;
import static dev.quipu.testkit.store.StoreFixture.number;
import static dev.quipu.testkit.store.StoreFixture.unmet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.layer.ClockComparison;
import dev.quipu.layer.Store;
import dev.quipu.layer.Sweeper;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of expiry, by the clocks of several servers. */
interface ExpiryContract extends StoreFixture {
  @Test
  default void expiredItemsAreInvisibleAndReplaceable() {
    applied(store().write(expiring("a", 1)));
    assertEquals(1, item("a").number(N));
    unmet(put("a", 2, new Condition.Absent()));
    clock().advance(Duration.ofSeconds(60));
    assertEquals(Optional.empty(), get(key("a")));
    applied(put("a", 3, new Condition.Absent()));
    assertEquals(3, item("a").number(N));
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void expiredItemsAreReplaceableInABatch() {
    applied(store().write(expiring("a", 1)));
    applied(store().write(expiring("b", 1)));
    clock().advance(Duration.ofSeconds(60));
    applied(
        store()
            .writeAll(
                List.of(
                    number(key("a"), 2).when(new Condition.Absent()),
                    number(key("b"), 3).when(new Condition.Absent()),
                    number(key("c"), 4).when(new Condition.Absent())),
                null));
    assertEquals(3, item("b").number(N));
  }

  @Test
  @Needs(Capability.ORDERED_SCAN)
  default void aScanDoesNotReturnExpiredItems() {
    applied(store().write(expiring("a", 1)));
    applied(put("b", 2, Condition.always()));
    clock().advance(Duration.ofSeconds(60));
    assertEquals(List.of(item("b")), store().scan(Scan.all("p")).items());
  }

  @Test
  @Needs(Capability.ORDERED_SCAN)
  default void aServerWhoseClockIsADayAheadSeesNothingExpireAndSweepsNothing() {
    ManualClock early = new ManualClock(clock().epochMillis() + Duration.ofDays(1).toMillis());
    Store ahead = new Store(driver(), early);
    ClockComparison right = new ClockComparison(store(), "right");
    ClockComparison wrong = new ClockComparison(ahead, "wrong");
    right.compare();
    applied(store().write(expiring("a", 1)));
    wrong.compare(); // the clocks of the other servers are unknown before a second check
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
