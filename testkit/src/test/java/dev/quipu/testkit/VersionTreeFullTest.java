package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Version trees on full items, as those of SimpleDB are at 256 values. */
final class VersionTreeFullTest {
  private static final String PAGE = "page";
  private static final Duration BRANCH = Duration.ofMinutes(2);
  private static final VersionTreeOptions OPTIONS =
      VersionTreeOptions.DEFAULT.over(1).trailing(0).settling(Duration.ofMinutes(1), BRANCH);

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final Small small = new Small();
  private final Store store = new Store(small, clock);

  /** Limits the values of an item. */
  private static final class Small extends ForwardingDriver {
    final MemoryDriver memory = new MemoryDriver();
    int valuesMax = 3;
    Reason reason = Reason.FULL;
    final List<String> full = new ArrayList<>(); // sort keys of items that rejected a value

    @Override
    protected StoreDriver driver() {
      return memory;
    }

    @Override
    public WriteResult write(Write write) {
      boolean isAdded =
          write instanceof Write.Update update
              && update.changes().stream().anyMatch(each -> each instanceof Change.AddToken);
      Optional<Item> found = memory.get(write.key(), Consistency.STRONG);
      int values = found.map(item -> item.tokens("values").size()).orElse(0);
      if (isAdded && write.key().sort().startsWith("nodes/") && values >= valuesMax) {
        full.add(write.key().sort());
        throw new NotAppliedException(reason, "the item takes no more values");
      }
      return super.write(write);
    }
  }

  /** Counts in separate processes: a branch for each. */
  private void countInProcesses(int processes) {
    for (int i = 0; i < processes; i++) {
      VersionTree tree = new VersionTree(store, OPTIONS);
      tree.add(new Add(PAGE, 2, null));
      tree.add(new Add(PAGE, 1, null));
    }
  }

  private Reading read() {
    return new VersionTree(store, OPTIONS).read(PAGE).orElseThrow();
  }

  @Test
  void whoFindsAnItemFullTakesTheNext() {
    countInProcesses(10);
    assertEquals(Reading.exact(30), read());
    assertTrue(new VersionTree(store, OPTIONS).trees(PAGE).size() > 3, "items are used");
  }

  @Test
  void aStoreMaySayThatTheItemIsTooLarge() {
    small.reason = Reason.INVALID;
    countInProcesses(10);
    assertEquals(Reading.exact(30), read());
  }

  @Test
  void whoFindsAnItemFullPrunesItFirst() {
    small.valuesMax = 1;
    VersionTree tree = new VersionTree(store, OPTIONS);
    tree.add(new Add(PAGE, 5, null));
    clock.advance(BRANCH.multipliedBy(3));
    tree.prune(PAGE); // a root has the 5, and readers are to know it before its value goes
    clock.advance(BRANCH.multipliedBy(3));
    new VersionTree(store, OPTIONS).add(new Add(PAGE, 7, null));
    assertEquals(Reading.exact(12), read());
    assertEquals(Set.of(0), new VersionTree(store, OPTIONS).trees(PAGE).keySet());
  }

  @Test
  void aCounterWhoseItemsAreAllFullIsFull() {
    small.valuesMax = 0;
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> new VersionTree(store, OPTIONS).add(new Add(PAGE, 1, null)));
    assertEquals(Reason.FULL, e.reason());
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals("all 100 items of counter page are full", e.getMessage());
  }

  @Test
  void allItemsAreTriedBeforeACounterIsFullEachOnceAfterItWasPruned() {
    small.valuesMax = 0;
    for (int seed = 1; seed <= 3; seed++) {
      small.full.clear();
      VersionTree tree = new VersionTree(store, Randomness.seeded(seed), OPTIONS.over(3));
      assertThrows(QuipuException.class, () -> tree.add(new Add(PAGE, 1, null)));
      List<String> twiceEach = new ArrayList<>();
      for (int item = 0; item < VersionTreeOptions.ITEMS_MAX; item++) {
        twiceEach.addAll(Collections.nCopies(2, "nodes/%02d".formatted(item)));
      }
      assertEquals(twiceEach, small.full.stream().sorted().toList());
    }
  }

  @Test
  void whatIsRejectedForAnotherReasonIsNotTriedElsewhere() {
    small.valuesMax = 0;
    small.reason = Reason.DENIED;
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> new VersionTree(store, OPTIONS).add(new Add(PAGE, 1, null)));
    assertEquals(Reason.DENIED, e.reason());
    assertEquals(Optional.empty(), new VersionTree(store, OPTIONS).read(PAGE));
  }

  @Test
  void aBranchThatWouldHaveMoreThan64BitsEnds() {
    small.valuesMax = 100;
    VersionTree tree = new VersionTree(store, OPTIONS);
    for (long delta : new long[] {Long.MAX_VALUE, -Long.MAX_VALUE, -Long.MAX_VALUE, 5}) {
      tree.add(new Add(PAGE, delta, null));
    }
    assertEquals(Reading.exact(5 - Long.MAX_VALUE), read());
    tree.add(new Add(PAGE, -4, null));
    tree.add(new Add(PAGE, -2, null)); // with what the branch has, beyond the least number
    tree.add(new Add(PAGE, 3, null));
    assertEquals(Reading.exact(2 - Long.MAX_VALUE), read());
  }

  private int branches() {
    return new VersionTree(store, OPTIONS)
        .trees(PAGE).values().stream().mapToInt(tree -> tree.tips().size()).sum();
  }

  @Test
  void aBranchEndsAtItsAge() {
    VersionTree tree = new VersionTree(store, OPTIONS);
    tree.add(new Add(PAGE, 1, null));
    clock.advance(BRANCH.minusMillis(1));
    tree.add(new Add(PAGE, 1, null));
    assertEquals(1, branches());
    clock.advance(Duration.ofMillis(1));
    tree.add(new Add(PAGE, 1, null)); // begins another
    assertEquals(2, branches());
    assertEquals(Reading.exact(3), read());
  }
}
