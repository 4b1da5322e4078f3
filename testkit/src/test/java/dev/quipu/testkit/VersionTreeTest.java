package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.hits.VersionNode;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.hits.VersionTrees;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LaggingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Trees of versions: their values, in whatever order changes arrive. */
final class VersionTreeTest {
  private static final int TREES = Soak.seeds(20_000);
  private static final String PAGE = "page";
  private static final VersionTreeOptions OPTIONS = VersionTreeOptions.DEFAULT.over(1);

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final StoreDriver driver = new MemoryDriver();
  private final Store store = new Store(driver, clock);

  private VersionTree process(VersionTreeOptions options) {
    return new VersionTree(store, options);
  }

  private static void add(VersionTree process, long delta) {
    process.add(new Add(PAGE, delta, null));
  }

  private long value() {
    return process(OPTIONS).read(PAGE).orElseThrow().value();
  }

  /**
   * The example of the article: 10, then 11 three times, each derived from the 10, and a 12 from
   * one of them.
   */
  @Test
  void theTreeOfTheArticleIsFourteen() {
    VersionTree first = process(OPTIONS);
    add(first, 10);
    List<VersionTree> others = List.of(process(OPTIONS), process(OPTIONS));
    VersionNode ten = nodes().getFirst();
    Set<String> three = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      VersionNode.Branch branch = new VersionNode.Branch(clock.epochMillis() + 1, "a" + i);
      three.add(node(branch, ten.number() + 1, Optional.of(ten.version()), 11, 1));
    }
    store.addTokens(key(), "values", three);
    VersionNode.Branch branch = new VersionNode.Branch(clock.epochMillis() + 2, "b");
    VersionNode eleven =
        nodes().stream().filter(node -> node.count() == 11).findFirst().orElseThrow();
    store.addTokens(
        key(), "values", Set.of(node(branch, 12, Optional.of(eleven.version()), 12, 1)));
    assertEquals(14, value());
    assertEquals(
        List.of(10L, 11L, 11L, 11L, 12L),
        nodes().stream().map(VersionNode::count).sorted().toList());
    others.forEach(other -> add(other, 1));
    assertEquals(16, value());
  }

  private static String node(
      VersionNode.Branch branch,
      long number,
      Optional<VersionNode.Version> parent,
      long count,
      long own) {
    return new VersionNode(branch, number, branch.startMillis(), parent, count, own, 0, own).text();
  }

  private static Key key() {
    return new Key("tree/" + PAGE, "nodes/00");
  }

  private List<VersionNode> nodes() {
    return process(OPTIONS).trees(PAGE).values().stream()
        .flatMap(tree -> tree.nodes().stream())
        .toList();
  }

  /**
   * Random histories of several processes, which derive values from any known ones; values arrive
   * in any order, some twice, some again after they were pruned; and any process prunes at any
   * time.
   */
  @Test
  void randomTreesResolveToWhatWasAddedWhateverTheOrder() {
    long values = 0;
    long folds = 0;
    for (long seed = 1; seed <= TREES; seed++) {
      RandomTree tree = new RandomTree(seed);
      tree.grow();
      assertEquals(tree.sum, tree.resolved().value(PAGE), "seed " + seed);
      values += tree.values;
      folds += tree.folds;
    }
    assertTrue(values > 10L * TREES, "only " + values + " values");
    assertTrue(folds > TREES / 2, "folded only " + folds + " times");
  }

  private static final class RandomTree {
    long sum;
    int values;
    int folds;
    private final RandomGenerator random;
    private final Map<Integer, VersionNode> last = new HashMap<>();
    private final List<VersionNode> all = new ArrayList<>();
    private final List<String> stored = new ArrayList<>();
    private final List<String> dropped = new ArrayList<>();
    private final Set<String> roots = new HashSet<>();
    private final List<String> droppedRoots = new ArrayList<>();
    private long now = 1;

    RandomTree(long seed) {
      random = Randomness.seeded(seed);
    }

    VersionTrees resolved() {
      Collections.shuffle(stored, new Random(random.nextLong()));
      return VersionTrees.of(stored, roots);
    }

    void grow() {
      int steps = 8 + random.nextInt(24);
      for (int step = 0; step < steps; step++) {
        now++;
        switch (random.nextInt(6)) {
          case 0 -> drop();
          case 1 -> fold();
          default -> put();
        }
        if (random.nextInt(4) == 0 && !dropped.isEmpty()) {
          stored.add(dropped.get(random.nextInt(dropped.size()))); // a request that was delayed
        }
        if (random.nextInt(6) == 0 && !droppedRoots.isEmpty()) {
          roots.add(droppedRoots.get(random.nextInt(droppedRoots.size())));
        }
      }
    }

    private void put() {
      int process = random.nextInt(4);
      long delta = random.nextInt(5) == 0 ? -2 : 1 + random.nextInt(3);
      VersionNode before = last.get(process);
      VersionNode node;
      if (before == null) {
        Optional<VersionNode> parent =
            all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
        VersionNode.Branch branch =
            new VersionNode.Branch(now, Long.toHexString(random.nextLong()));
        node = VersionNode.first(branch, parent, delta, now);
      } else {
        node = before.next(delta, now);
      }
      last.put(process, node);
      all.add(node);
      sum += delta;
      values++;
      for (int times = 1 + random.nextInt(2); times > 0; times--) {
        stored.add(node.text());
      }
    }

    private void drop() {
      Set<String> gone = new HashSet<>(resolved().superseded(random.nextInt(3)));
      gone.addAll(resolved().goneValues());
      gone.addAll(resolved().goneRoots());
      gone.removeIf(text -> random.nextInt(3) == 0); // not all, as after a crash
      stored.removeIf(text -> gone.contains(text) && dropped.add(text));
      roots.removeIf(text -> gone.contains(text) && droppedRoots.add(text));
    }

    /** Restarts all processes; everything until now is closed and visible to all. */
    private void fold() {
      last.clear();
      for (int pruners = 1 + random.nextInt(2); pruners > 0; pruners--) {
        long horizon = now - random.nextInt(3);
        // A branch that began before and is still written to must not be in it: none is.
        resolved()
            .folded(PAGE, horizon, now)
            .ifPresent(root -> {
              roots.add(root.text());
              folds++;
            });
      }
      now++;
    }
  }

  @Test
  void anOldBranchIsFoldedAndTheTreeStaysSmall() {
    VersionTree pruner = process(OPTIONS);
    long sum = 0;
    int most = 0;
    for (int round = 0; round < 40; round++) {
      for (int i = 0; i < 3; i++) {
        VersionTree process = process(OPTIONS); // crashes after three adds
        add(process, 1);
        add(process, 5);
        add(process, -2);
        sum += 4;
      }
      clock.advance(Duration.ofMinutes(2));
      pruner.prune(PAGE);
      assertEquals(sum, value());
      most =
          Math.max(
              most, driver.get(key(), Consistency.STRONG).orElseThrow().tokens("values").size());
    }
    assertTrue(most < 60, "it had " + most + " values");
    clock.advance(Duration.ofMinutes(15));
    pruner.prune(PAGE);
    clock.advance(Duration.ofMinutes(2));
    pruner.prune(PAGE);
    assertEquals(sum, value());
    assertEquals(List.of(), nodes());
    Item root = driver.get(new Key("tree/" + PAGE, "root/00"), Consistency.STRONG).orElseThrow();
    assertEquals(1, root.tokens("roots").size());
  }

  @Test
  void aProcessThatGoesOnLeavesOnlyItsTrail() {
    for (int trail : List.of(0, 1, 5)) {
      VersionTree process = process(OPTIONS.trailing(trail));
      for (int i = 0; i < 50; i++) {
        process.add(new Add("trail " + trail, 1, null));
      }
      VersionTrees tree = process.trees("trail " + trail).values().iterator().next();
      assertTrue(tree.nodes().size() <= 2 * trail + 1, "it left " + tree.nodes().size());
      assertTrue(tree.nodes().size() > trail);
      assertEquals(50, tree.value("trail"));
    }
  }

  @Test
  void aBranchHasOneAge() {
    VersionTree process = process(OPTIONS);
    add(process, 1);
    clock.advance(OPTIONS.branchAge().minusMillis(1));
    add(process, 1);
    assertEquals(1, nodes().stream().map(VersionNode::branch).distinct().count());
    clock.advance(Duration.ofMillis(1));
    add(process, 1);
    assertEquals(2, nodes().stream().map(VersionNode::branch).distinct().count());
    clock.jump(Duration.ofHours(-1)); // a clock that is set back
    add(process, 1);
    assertEquals(3, nodes().stream().map(VersionNode::branch).distinct().count());
    assertEquals(4, value());
  }

  @Test
  void numbersOfAllSizes() {
    VersionTree process = process(OPTIONS);
    add(process, Long.MAX_VALUE);
    add(process, -1);
    add(process, 1);
    assertEquals(Long.MAX_VALUE, value());
    add(process, -Long.MAX_VALUE);
    add(process, -Long.MAX_VALUE);
    assertEquals(-Long.MAX_VALUE, value());
  }

  @Test
  void anEventualReadReturnsAPastCountAndItsUncertainty() {
    LaggingDriver lagging =
        new LaggingDriver(driver, clock, Randomness.seeded(3), Duration.ofSeconds(1));
    VersionTree eventual =
        new VersionTree(new Store(lagging, clock), OPTIONS.reading(Consistency.EVENTUAL));
    add(eventual, 10);
    add(eventual, -3);
    add(eventual, 1);
    clock.advance(Duration.ofSeconds(1));
    assertEquals(new Reading(8, 0, 10), eventual.read(PAGE).orElseThrow());
    clock.advance(OPTIONS.settle());
    assertEquals(Reading.exact(8), eventual.read(PAGE).orElseThrow());
  }

  @Test
  void boundsAndIdsAreRejected() {
    VersionTree process = process(OPTIONS);
    Add bounded = new Add(PAGE, 1, Bounds.atMost(5), null);
    Add withId = new Add(PAGE, 1, RequestId.of("id"));
    assertThrows(UnsupportedOperationException.class, () -> process.add(bounded));
    assertThrows(UnsupportedOperationException.class, () -> process.add(withId));
  }
}
