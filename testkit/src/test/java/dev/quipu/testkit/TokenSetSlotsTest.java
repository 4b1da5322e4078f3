package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Randomness;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The slots of a token set. */
final class TokenSetSlotsTest {
  private static TokenSet counters(int slots) {
    Store store = new Store(new MemoryDriver(), new ManualClock(0));
    return new TokenSet(store, Randomness.seeded(1), slots);
  }

  private static Add add(String id, Bounds bounds) {
    return new Add("a", 1, bounds, RequestId.of(id));
  }

  @Test
  void whenAllSlotsAreTakenNothingMoreCountsAndRepeatsAreStillKnown() {
    TokenSet counters = counters(3);
    for (int i = 0; i < 3; i++) {
      assertInstanceOf(AddResult.Applied.class, counters.add(add("id" + i, Bounds.none())));
    }
    QuipuException full =
        assertThrows(QuipuException.class, () -> counters.add(add("more", Bounds.none())));
    assertEquals(Outcome.NOT_APPLIED, full.outcome());
    assertEquals(Reason.FULL, full.reason());
    assertThrows(QuipuException.class, () -> counters.cancel("a", RequestId.of("more")));
    assertInstanceOf(AddResult.Replayed.class, counters.add(add("id1", Bounds.none())));
    assertEquals(Optional.of(Reading.exact(3)), counters.read("a"));
  }

  @Test
  void aRejectedAddTakesNoSlotAndACancellationDoes() {
    TokenSet counters = counters(2);
    counters.cancel("a", RequestId.of("canceled"));
    assertEquals(Optional.empty(), counters.read("a"));
    assertInstanceOf(AddResult.Rejected.class, counters.add(add("b", Bounds.atMost(0))));
    assertInstanceOf(AddResult.Applied.class, counters.add(add("b", Bounds.atMost(1))));
    assertThrows(QuipuException.class, () -> counters.add(add("c", Bounds.none())));
  }

  @Test
  void slotsHaveLimits() {
    assertThrows(IllegalArgumentException.class, () -> counters(0));
    assertThrows(IllegalArgumentException.class, () -> counters(TokenSet.SLOTS_MAX + 1));
  }
}
