package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.hits.VersionTrees;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LaggingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.time.Randomness;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Version trees whose roots are stored long after they were computed. */
final class VersionTreeLateTest {
  private static final String PAGE = "page";
  private static final Duration SETTLE = Duration.ofMinutes(1);
  private static final VersionTreeOptions OPTIONS =
      VersionTreeOptions.DEFAULT.over(1).settling(SETTLE, SETTLE.multipliedBy(2));
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final LaggingDriver driver =
      new LaggingDriver(new MemoryDriver(), clock, Randomness.seeded(1), SETTLE.dividedBy(4));
  private final CallScript script = new CallScript();
  private final VersionTree tree = new VersionTree(new Store(driver, clock), OPTIONS);

  private void tenIsFoldedBy(VersionTree pruner) {
    tree.add(new Add(PAGE, 10, null));
    clock.advance(SETTLE.multipliedBy(4));
    pruner.prune(PAGE);
  }

  private VersionTree unlucky() {
    Store store = new Store(script.around(driver), clock, Randomness.seeded(2), ONCE);
    return new VersionTree(store, OPTIONS);
  }

  /** Checks that no reader misses what was stored long ago, whatever replicas lag. */
  private void checkReaders() {
    VersionTree reader =
        new VersionTree(new Store(driver, clock), OPTIONS.reading(Consistency.EVENTUAL));
    for (int i = 0; i < 200; i++) {
      clock.advance(Duration.ofMillis(50));
      assertEquals(Reading.exact(10), reader.read(PAGE).orElseThrow());
    }
  }

  private void drain() {
    for (int i = 0; i < 4; i++) {
      clock.advance(SETTLE);
      tree.prune(PAGE);
      checkReaders();
    }
    for (VersionTrees each : tree.trees(PAGE).values()) {
      assertTrue(each.nodes().isEmpty(), "all is folded");
      assertTrue(each.goneValues().isEmpty(), "what is folded is taken out");
    }
  }

  @Test
  void aRootIsKnownOnlyAfterItWasStored() {
    script.before(CallScript.to("tree/"), () -> clock.advance(SETTLE.multipliedBy(3)));
    tenIsFoldedBy(unlucky());
    assertTrue(script.isDone());
    tree.prune(PAGE);
    checkReaders();
    drain();
  }

  @Test
  void aRootThatArrivesLateIsKnownOnlyThen() {
    script.late(CallScript.to("tree/"));
    assertThrows(QuipuException.class, () -> tenIsFoldedBy(unlucky()));
    clock.advance(SETTLE.multipliedBy(3));
    script.arrive();
    tree.prune(PAGE);
    checkReaders();
    drain();
  }
}
