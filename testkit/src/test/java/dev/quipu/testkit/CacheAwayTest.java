package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Counters;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayReading;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.MarkerItem;
import dev.quipu.time.Randomness;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Readings of views in a cache that is unreachable or has lost some of them. */
final class CacheAwayTest {
  private static final String PAGE = "page";
  private static final int MAX = 5;

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final LosingDriver memory = new LosingDriver();
  private final Store durable = new Store(new MemoryDriver(), clock);
  private final Counters counters = new MarkerItem(durable);
  private boolean isAway;

  private CacheFirst process() {
    StoreDriver link =
        new InterceptingDriver(
            memory,
            new InterceptingDriver.Interceptor() {
              @Override
              public <T> T call(Supplier<T> call) {
                if (isAway) {
                  throw new NotAppliedException(Reason.UNAVAILABLE, "the cache is unreachable");
                }
                return call.get();
              }
            });
    Store cache = new Store(link, clock, Randomness.seeded(1), RetryPolicy.DEFAULT);
    return new CacheFirst(cache.operations(), durable, counters, MAX);
  }

  private static void view(CacheFirst process, int times) {
    for (int i = 0; i < times; i++) {
      process.view(PAGE, Optional.empty());
    }
  }

  private static void check(CacheFirst process, long views) {
    DisplayReading reading = process.read(PAGE).orElseThrow();
    assertTrue(reading.low() <= views && views <= reading.high(), views + " views: " + reading);
  }

  @Test
  void aProcessThatRemembersALostNumberReportsTheLoss() {
    CacheFirst first = process();
    view(first, MAX - 1);
    memory.lose();
    view(process(), MAX - 1);
    isAway = true;
    check(first, 2 * (MAX - 1));
  }

  @Test
  void viewsOnlyInTheCacheAreNotReportedAsNone() {
    CacheFirst first = process();
    view(first, MAX - 1);
    isAway = true;
    check(first, MAX - 1);
    check(process(), MAX - 1);
  }

  @Test
  void aNumberBelowTheFlushedOneIsLost() {
    CacheFirst first = process();
    view(first, 2 * MAX);
    first.writeBack();
    AtomicOperations operations = new Store(memory, clock).operations();
    String key =
        durable.scan(Scan.all(partition())).items().stream()
            .map(Item::fields)
            .map(fields -> fields.get("token"))
            .map(token -> "display:" + ((Field.Text) token).value())
            .findFirst()
            .orElseThrow();
    operations.set(key, "1", Optional.empty()); // as the cache had it some time ago
    check(first, 2 * MAX);
    view(first, 3);
    check(first, 2 * MAX + 3);
    first.writeBack();
    assertEquals(2 * MAX + 3, counters.read(PAGE).orElseThrow().value());
  }

  private static String partition() {
    return "display/" + Integer.toHexString(Math.floorMod(PAGE.hashCode(), 16));
  }
}
