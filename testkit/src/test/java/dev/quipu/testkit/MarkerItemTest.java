package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.MarkerItem;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a marker stores besides the id. */
final class MarkerItemTest {
  private final MarkerItem counters =
      new MarkerItem(new Store(new MemoryDriver(), new ManualClock(0)));

  @Test
  void aMarkerKeepsTheReasonOfAnAddThatApplied() {
    RequestId id = RequestId.of("one");
    Add order = new Add("stock", -5, Bounds.atLeast(0), id);
    assertInstanceOf(AddResult.Rejected.class, counters.add(order, "order 981"));
    assertEquals(Optional.empty(), counters.reason("stock", id));
    counters.add(new Add("stock", 9, null));
    assertInstanceOf(AddResult.Applied.class, counters.add(order, "order 981"));
    assertInstanceOf(AddResult.Replayed.class, counters.add(order, "another"));
    assertEquals(Optional.of("order 981"), counters.reason("stock", id));
  }
}
