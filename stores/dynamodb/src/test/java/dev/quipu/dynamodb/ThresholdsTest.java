package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.ThresholdListener;
import dev.quipu.ThresholdListener.Crossing;
import dev.quipu.layer.Store;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.ItemCollection;
import dev.quipu.threshold.Thresholds;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Crossings of thresholds by an item collection, on DynamoDB Local. */
final class ThresholdsTest {
  private final List<Crossing> crossings = new ArrayList<>();

  private static StoreDriver open() {
    return StoreProvider.open(Tables.newUri(Tables.server().endpoint(), Duration.ofMinutes(1)));
  }

  private static ItemCollection observed(
      StoreDriver driver, List<Long> thresholds, ThresholdListener listener) {
    Store store = new Store(driver, Clock.system());
    ItemCollection counters =
        new ItemCollection(store, Randomness.secure(), Optional.of(Duration.ZERO));
    counters.observe(new Thresholds(store, thresholds, listener));
    return counters;
  }

  @Test
  void eachObservedCrossingIsReportedUnderOneId() {
    try (StoreDriver driver = open()) {
      ItemCollection one = observed(driver, List.of(10L, -5L), crossings::add);
      ItemCollection other = observed(driver, List.of(10L, -5L), crossings::add);
      for (long delta : List.of(9, 1, 1, -2, -14, 1)) {
        one.add(new Add("a", delta, null));
        one.read("a");
        other.read("a");
      }
      assertEquals(
          List.of(
              new Crossing("a/10/1", "a", 10, 10, true), new Crossing("a/10/2", "a", 10, 9, false)),
          crossings);
      one.add(new Add("a", -5, null)); // to -9
      other.compactAll(() -> true, (counter, failure) -> {});
      assertEquals(new Crossing("a/-5/1", "a", -5, -9, false), crossings.getLast());
      assertEquals(3, crossings.size());
    }
  }

  /** Whichever call of an observer fails, and whether its listener fails: it is reported later. */
  @Test
  void aCrossingIsReportedAtLeastOnceWhicheverStepFails() {
    for (boolean isApplied : List.of(false, true)) {
      for (int step = 0; step < 8; step++) {
        crossings.clear();
        try (StoreDriver driver = open()) {
          observed(driver, List.of(), crossing -> {}).add(new Add("a", 10, null));
          InterceptingDriver failing = new InterceptingDriver(driver, failingAt(step, isApplied));
          try {
            observed(failing, List.of(10L), crossings::add).read("a");
          } catch (NotAppliedException e) {
            assertEquals("failed", e.getMessage());
          }
          observed(driver, List.of(10L), crossings::add).read("a");
          TreeSet<String> ids = new TreeSet<>();
          crossings.forEach(crossing -> ids.add(crossing.id()));
          assertEquals(List.of("a/10/1"), List.copyOf(ids), "step " + step);
          int before = crossings.size();
          observed(driver, List.of(10L), crossings::add).read("a");
          assertEquals(before, crossings.size());
        }
      }
    }
  }

  /** Fails at one call and at all later ones, so that nothing is retried with success. */
  private static InterceptingDriver.Interceptor failingAt(int step, boolean isApplied) {
    AtomicInteger calls = new AtomicInteger();
    return new InterceptingDriver.Interceptor() {
      @Override
      public <T> T call(Supplier<T> call) {
        int number = calls.getAndIncrement();
        if (number == step && isApplied) {
          Object reply = call.get(); // it is lost
          assertNotNull(reply);
        }
        if (number >= step) {
          throw new NotAppliedException(Reason.INVALID, "failed");
        }
        return call.get();
      }
    };
  }

  @Test
  void afterAnExceptionTheListenerIsCalledAgain() {
    try (StoreDriver driver = open()) {
      AtomicInteger failures = new AtomicInteger(2);
      ItemCollection counters =
          observed(
              driver,
              List.of(1L),
              crossing -> {
                crossings.add(crossing);
                if (failures.getAndDecrement() > 0) {
                  throw new IllegalStateException("unreachable");
                }
              });
      counters.add(new Add("a", 1, null));
      for (int i = 0; i < 5; i++) {
        assertEquals(1, counters.read("a").orElseThrow().value());
      }
      assertEquals(3, crossings.size());
      assertTrue(crossings.stream().allMatch(each -> each.id().equals("a/1/1")));
    }
  }
}
