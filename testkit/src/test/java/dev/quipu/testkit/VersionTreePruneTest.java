package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.Guarantee;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.hits.VersionNode;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.hits.VersionTrees;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What writers, readers and pruners of a version tree leave in the store, and until when. */
final class VersionTreePruneTest {
  private static final String PAGE = "page";
  private static final Key NODES = new Key("tree/" + PAGE, "nodes/00");
  private static final Key ROOT = new Key("tree/" + PAGE, "root/00");
  private static final Duration SETTLE = Duration.ofMinutes(1);
  private static final Duration BRANCH = Duration.ofMinutes(2);
  private static final Duration MILLI = Duration.ofMillis(1);
  private static final VersionTreeOptions OPTIONS =
      VersionTreeOptions.DEFAULT.over(1).trailing(0).settling(SETTLE, BRANCH);
  private static final RetryPolicy ONCE = new RetryPolicy(1, MILLI, MILLI, Duration.ofSeconds(1));

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final Losing driver = new Losing();
  private final Store store = new Store(driver, clock, Randomness.seeded(1), ONCE);
  private final VersionTree pruner = process();

  /** Loses the replies to writes of values while enabled. */
  private static final class Losing extends ForwardingDriver {
    private final MemoryDriver memory = new MemoryDriver();
    boolean losesReplies;
    boolean losesRequests;

    @Override
    protected StoreDriver driver() {
      return memory;
    }

    @Override
    public WriteResult write(Write write) {
      boolean isLost = write.key().equals(NODES) && (losesReplies || losesRequests);
      if (isLost && losesRequests) {
        throw new OutcomeUnknownException(Reason.TIMEOUT, "a request is lost", null);
      }
      WriteResult result = super.write(write);
      if (isLost) {
        throw new OutcomeUnknownException(Reason.TIMEOUT, "a reply is lost", null);
      }
      return result;
    }
  }

  private VersionTree process() {
    return new VersionTree(store, OPTIONS);
  }

  private static void add(VersionTree process, long delta) {
    process.add(new Add(PAGE, delta, null));
  }

  private Reading read() {
    return process().read(PAGE).orElseThrow();
  }

  private Set<String> tokens(Key key, String field) {
    Optional<Item> item = driver.get(key, Consistency.STRONG);
    return item.map(found -> found.tokens(field)).orElse(Set.of());
  }

  private Set<String> values() {
    return tokens(NODES, "values");
  }

  private Set<String> roots() {
    return tokens(ROOT, "roots");
  }

  private Set<String> seen() {
    return tokens(ROOT, "seen");
  }

  @Test
  void eventualReadsPromiseLessThanStrongOnes() {
    assertEquals(VersionTree.SPEC, process().spec());
    VersionTree eventual = new VersionTree(store, OPTIONS.reading(Consistency.EVENTUAL));
    assertEquals(Set.of(Guarantee.AT_MOST_ONCE), eventual.spec().guarantees());
  }

  @Test
  void anAddWithoutAnAnswerCountsOnceItsProcessAddsAgain() {
    VersionTree process = process();
    add(process, 1);
    driver.losesRequests = true;
    QuipuException e = assertThrows(QuipuException.class, () -> add(process, 10));
    assertEquals(Outcome.UNKNOWN, e.outcome());
    driver.losesRequests = false;
    assertEquals(Reading.exact(1), read());
    add(process, 100);
    assertEquals(Reading.exact(111), read());
    assertEquals(1, values().size(), "earlier values are taken out");
  }

  /** One call does not remove all; the next removes the rest. */
  @Test
  void manyAddsWithoutAnAnswerAreTakenOutByThoseAfterThem() {
    VersionTree process = process();
    add(process, 1);
    driver.losesReplies = true;
    for (int i = 0; i < Store.TOKENS_MAX + 2; i++) {
      assertThrows(QuipuException.class, () -> add(process, 1));
    }
    driver.losesReplies = false;
    add(process, 1);
    assertEquals(4, values().size());
    add(process, 1);
    assertEquals(1, values().size());
    assertEquals(Reading.exact(Store.TOKENS_MAX + 5), read());
  }

  @Test
  void theTrailIsShortenedWhenItIsTwiceAsLong() {
    VersionTree process = new VersionTree(store, OPTIONS.trailing(2));
    for (int i = 1; i <= 5; i++) {
      add(process, 1);
      assertEquals(i, values().size());
    }
    add(process, 1);
    assertEquals(3, values().size());
    assertEquals(Reading.exact(6), read());
  }

  @Test
  void aBranchBeginsAtTheVersionWithTheHighestNumber() {
    VersionNode.Branch early = new VersionNode.Branch(clock.epochMillis() - 1, "a");
    VersionNode.Branch late = new VersionNode.Branch(clock.epochMillis() + 1, "b");
    long now = clock.epochMillis();
    store.addTokens(
        NODES,
        "values",
        Set.of(
            VersionNode.first(early, Optional.empty(), 1, now).text(),
            VersionNode.first(late, Optional.empty(), 1, now).text()));
    add(process(), 1); // number 2
    add(process(), 1);
    VersionTrees tree = pruner.trees(PAGE).values().iterator().next();
    assertEquals(3, tree.nodes().stream().mapToLong(VersionNode::number).max().orElseThrow());
    assertEquals(Reading.exact(4), read());
  }

  /** The add is acknowledged only if its branch cannot have been folded before it arrived. */
  @Test
  void aValueThatTookTooLongIsNotKnownToCount() {
    Duration most = BRANCH.plus(SETTLE.dividedBy(2));
    assertEquals(Optional.empty(), unknownAfter(most));
    QuipuException e = unknownAfter(most.plusMillis(1)).orElseThrow();
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertEquals(Reason.TIMEOUT, e.reason());
  }

  private Optional<QuipuException> unknownAfter(Duration late) {
    CallScript script = new CallScript().before(CallScript.to("tree/"), () -> clock.advance(late));
    VersionTree slow = new VersionTree(new Store(script.around(driver), clock), OPTIONS);
    try {
      add(slow, 1);
      return Optional.empty();
    } catch (QuipuException e) {
      return Optional.of(e);
    }
  }

  @Test
  void aReaderPrunesFromFiftyTextsThatCouldGo() {
    for (int i = 0; i < 49; i++) {
      add(process(), 1);
    }
    clock.advance(BRANCH.plus(SETTLE).plus(MILLI));
    assertEquals(Reading.exact(49), read());
    assertEquals(Set.of(), roots());
    VersionTree fiftieth = process();
    add(fiftieth, 1);
    clock.advance(BRANCH.plus(SETTLE).plus(MILLI));
    assertEquals(Reading.exact(50), read());
    assertEquals(1, roots().size());
    assertEquals(Reading.exact(50), read());
  }

  @Test
  void pruningTakesOutWhatALaterValueOfTheBranchStandsFor() {
    VersionTree process = new VersionTree(store, OPTIONS.trailing(5));
    for (int i = 0; i < 4; i++) {
      add(process, 1);
    }
    assertEquals(4, values().size());
    pruner.prune(PAGE);
    assertEquals(1, values().size());
    assertEquals(Reading.exact(4), read());
  }

  @Test
  void pruningAYoungTreeWritesNoRoot() {
    add(process(), 1);
    pruner.prune(PAGE);
    assertEquals(Optional.empty(), driver.get(ROOT, Consistency.STRONG));
  }

  @Test
  void aBranchIsFoldedOneMillisecondAfterItsAgeAndTheSettledAge() {
    add(process(), 1);
    clock.advance(BRANCH.plus(SETTLE));
    pruner.prune(PAGE);
    assertEquals(Set.of(), roots());
    clock.advance(MILLI);
    pruner.prune(PAGE);
    assertEquals(1, roots().size());
    assertEquals(Reading.exact(1), read());
  }

  @Test
  void whatARootStandsForGoesTheSettledAgeAfterItWasNoted() {
    add(process(), 1);
    clock.advance(BRANCH.plus(SETTLE).plus(MILLI));
    pruner.prune(PAGE);
    assertEquals(1, seen().size());
    clock.advance(SETTLE.minus(MILLI));
    pruner.prune(PAGE);
    assertEquals(1, values().size());
    assertEquals(1, seen().size(), "a root is noted once");
    clock.advance(MILLI);
    pruner.prune(PAGE);
    assertEquals(Set.of(), values());
    assertEquals(1, seen().size());
    assertEquals(Reading.exact(1), read());
  }

  @Test
  void aRootStaysUntilALaterOneIsKnownToAllReaders() {
    foldAfterAdding(1);
    String first = roots().iterator().next();
    clock.advance(SETTLE);
    pruner.prune(PAGE); // the first root is known
    foldAfterAdding(2);
    assertEquals(2, roots().size());
    pruner.prune(PAGE);
    assertEquals(2, roots().size());
    assertEquals(2, seen().size());
    clock.advance(SETTLE);
    pruner.prune(PAGE);
    assertEquals(1, roots().size());
    assertEquals(1, seen().size());
    assertEquals(false, roots().contains(first));
    pruner.prune(PAGE);
    assertEquals(1, seen().size(), "what is noted of the root stays");
    assertEquals(Reading.exact(3), read());
  }

  private void foldAfterAdding(long delta) {
    add(process(), delta);
    clock.advance(BRANCH.plus(SETTLE).plus(MILLI));
    pruner.prune(PAGE);
  }

  /** The pruner crashed after it stored the root, before it recorded that. */
  @Test
  void aRootWhosePrunerDiedIsNotedByTheNext() {
    foldAfterAdding(1);
    clock.advance(SETTLE);
    pruner.prune(PAGE);
    add(process(), 2);
    clock.advance(BRANCH.plus(SETTLE).plus(MILLI));
    long horizon = clock.epochMillis() - BRANCH.plus(SETTLE).toMillis() - 1;
    VersionTrees.Root root = new VersionTrees.Root(horizon, 3, clock.epochMillis());
    store.addTokens(ROOT, "roots", Set.of(root.text()));
    pruner.prune(PAGE);
    String noted = new VersionTrees.Seen(horizon, clock.epochMillis()).text();
    assertEquals(true, seen().contains(noted));
    clock.advance(SETTLE);
    pruner.prune(PAGE);
    assertEquals(Set.of(noted), seen());
    assertEquals(Set.of(root.text()), roots());
    assertEquals(Set.of(), values());
    assertEquals(Reading.exact(3), read());
  }

  // ---- what one item reports

  private static final VersionNode.Branch A = new VersionNode.Branch(100, "a");
  private static final VersionNode.Branch B = new VersionNode.Branch(100, "b");

  private static VersionNode node(VersionNode.Branch branch, long number, long millis) {
    return new VersionNode(branch, number, millis, Optional.empty(), 3, 3, -1, 5);
  }

  private static VersionTrees tree(VersionNode... nodes) {
    return VersionTrees.of(List.of(nodes).stream().map(VersionNode::text).toList(), List.of());
  }

  @Test
  void valuesAreInTheOrderOfTheirBranchesAndNumbers() {
    VersionNode[] nodes = {node(A, 2, 100), node(A, 4, 100), node(B, 1, 100), node(B, 3, 100)};
    assertEquals(List.of(nodes), tree(nodes[3], nodes[1], nodes[2], nodes[0]).nodes());
    assertEquals(List.of(nodes[1], nodes[3]), tree(nodes).tips());
  }

  @Test
  void aBranchIsCertainOnceItsLastChangeIsSettled() {
    VersionTrees tree = tree(node(A, 1, 150));
    assertEquals(Reading.exact(3), tree.reading(PAGE, 150));
    assertEquals(new Reading(3, -1, 5), tree.reading(PAGE, 149));
  }

  @Test
  void allThatPruningWouldTakeOutOrFoldIsCounted() {
    VersionNode.Branch gone = new VersionNode.Branch(10, "c");
    List<String> values =
        List.of(node(gone, 1, 10), node(gone, 2, 11), node(A, 1, 100), node(A, 2, 100)).stream()
            .map(VersionNode::text)
            .toList();
    List<String> roots =
        List.of(1L, 2L, 3L, 4L, 5L, 20L).stream()
            .map(horizon -> new VersionTrees.Root(horizon, 1, 30).text())
            .toList();
    VersionTrees tree = VersionTrees.of(values, roots);
    assertEquals(2, tree.goneValues().size());
    assertEquals(5, tree.goneRoots().size());
    assertEquals(2 + 5 + 1 + 1, tree.prunable(0, 100));
    assertEquals(2 + 5 + 1, tree.prunable(0, 99));
    assertEquals(2 + 5 + 1, tree.prunable(1, 100));
  }
}
