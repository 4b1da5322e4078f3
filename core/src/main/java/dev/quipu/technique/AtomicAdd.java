package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Reading;
import dev.quipu.store.Atomicity;
import dev.quipu.store.Capability;
import dev.quipu.store.Change;
import dev.quipu.store.Store;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/*
 * ATOMIC ADD
 *
 * Problem. Many processes add to one number. Read, add, write back loses adds: two read 5, both
 * write 6.
 *
 * Stored. One item, one number.
 *
 * Protocol.
 *   1. Ask the store to add. It reads, adds, checks the bounds and writes in one step.
 *
 * Why it is right. The store applies adds to one item one after the other. None is lost between
 * two others, and a bound is checked against the very value that the add makes.
 *
 * Crash table.
 *   | broken off        | stored    | a repeat                 |
 *   | before 1 is sent  | nothing   | counts once              |
 *   | reply to 1 lost   | the add   | COUNTS TWICE             |
 *   | request 1 lost    | nothing   | counts once              |
 *   The last two look alike to the caller. So this technique never repeats by itself after an
 *   unknown outcome, and takes no request id: it could not honour one.
 *
 * Cost. One round trip, one write. A hot counter is as fast as the store writes one item.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 1.
 */

/**
 * The store's own add: cheap, fast, and after a lost reply nobody knows whether it counted.
 * Thread-safe.
 */
public final class AtomicAdd implements Counters {
  /** What it needs, promises and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "atomic-add",
          "The store adds in one step; a lost reply stays unknown.",
          Set.of(Capability.STRONG_READ),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.BOUNDED,
              Guarantee.ADD_AND_GET,
              Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 0),
          new Cost(1, 0, 0),
          "Implement resource counters with Amazon DynamoDB, method 1");

  private final Store store;
  private final CounterItems items;

  /**
   * Counts on {@code store}.
   *
   * @throws IllegalArgumentException if the store lacks what {@link #SPEC} needs
   */
  public AtomicAdd(Store store) {
    SPEC.requireWorksOn(store.profile());
    this.store = store;
    this.items = new CounterItems(store);
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  @Override
  public AddResult add(Add add) {
    if (add.id() != null) {
      throw keepsNoIds();
    }
    items.enlist(add.counter());
    Write write =
        new Write.Update(
            CounterItems.valueKey(add.counter()),
            List.of(new Change.Add(CounterItems.VALUE, add.delta())),
            CounterItems.within(add));
    return switch (store.write(write)) {
      case WriteResult.Applied applied ->
          new AddResult.Applied(
              add.delta(),
              OptionalLong.of(applied.after().orElseThrow().number(CounterItems.VALUE)));
      case WriteResult.ConditionFailed failed -> CounterItems.refused(add, failed.found());
    };
  }

  @Override
  public Optional<Reading> read(String counter) {
    return items.read(counter);
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit);
  }
}
