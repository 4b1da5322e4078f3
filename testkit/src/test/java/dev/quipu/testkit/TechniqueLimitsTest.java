package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counter;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.backend.Backends;
import dev.quipu.hits.VersionNode;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Techniques by name, and their options and limits. */
final class TechniqueLimitsTest {
  private final Store store = new Store(new MemoryDriver(), new ManualClock(1_000_000));

  private static Store limited(Capability... left) {
    return new Store(
        new LimitedDriver(new MemoryDriver(), Set.of(left)), new ManualClock(1_000_000));
  }

  private static String rejected(Runnable call) {
    return String.valueOf(assertThrows(IllegalArgumentException.class, call::run).getMessage());
  }

  @Test
  void eachTechniqueIsFoundAndOpenedByItsName() {
    for (TechniqueSpec spec : Techniques.ALL) {
      assertEquals(spec, Techniques.named(spec.name()));
      Technique opened = Backends.technique(spec, store, Randomness.seeded(1), Optional.empty());
      assertEquals(spec.name(), opened.spec().name());
    }
    assertTrue(rejected(() -> Techniques.named("none")).contains("marker-item"));
  }

  @Test
  void theTechniqueThatPromisesMostIsChosenFromThoseThatWork() {
    assertTrue(Techniques.bestFor(store.profile()).promises(Guarantee.IDEMPOTENT));
    TechniqueSpec other = Techniques.bestFor(limited(Capability.STRONG_READ).profile());
    assertTrue(other.worksOn(limited(Capability.STRONG_READ).profile()));
    assertTrue(rejected(() -> Techniques.bestFor(limited().profile())).contains("no technique"));
  }

  @Test
  void noTechniqueOpensOnAStoreThatLacksWhatItNeeds() {
    Store nothing = limited();
    for (TechniqueSpec spec : Techniques.ALL) {
      rejected(() -> Backends.technique(spec, nothing, Randomness.seeded(1), Optional.empty()));
    }
  }

  @Test
  void aTechniqueWithoutBoundsNamesThoseThatHaveThem() {
    Technique repeating = new AtomicAdd(store, AtomicAdd.AfterUnknown.REPEAT);
    Add bounded = new Add("a", 1, Bounds.atMost(9), null);
    String why =
        String.valueOf(
            assertThrows(UnsupportedOperationException.class, () -> repeating.add(bounded))
                .getMessage());
    assertTrue(why.contains("marker-item") && !why.contains("hit-log"), why);
    assertInstanceOf(AddResult.Applied.class, repeating.add(new Add("a", 1, null)));
    assertInstanceOf(AddResult.Applied.class, new AtomicAdd(store).add(bounded));
  }

  @Test
  void theNumberOfSlotsHasLimits() {
    for (int slots : new int[] {0, TokenSet.SLOTS_MAX + 1}) {
      rejected(() -> new TokenSet(store, Randomness.seeded(1), slots));
    }
    for (int slots : new int[] {1, TokenSet.SLOTS_MAX}) {
      TokenSet counters = new TokenSet(store, Randomness.seeded(1), slots);
      assertEquals("token-set", counters.technique());
    }
  }

  @Test
  void aCounterIsOneOfItsTechnique() {
    Counter counter = Backends.on(new MemoryDriver()).counter("a").withBounds(Bounds.between(0, 5));
    assertEquals("a", counter.name());
    assertEquals(Optional.empty(), counter.read());
    RequestId id = RequestId.of("id");
    assertInstanceOf(AddResult.Applied.class, counter.add(4, id));
    assertInstanceOf(AddResult.Replayed.class, counter.add(4, id));
    assertInstanceOf(AddResult.Applied.class, counter.add(1));
    assertEquals(new AddResult.Rejected(Rejection.CEILING, 5), counter.add(1));
    assertEquals(Optional.of(Reading.exact(5)), counter.read());
    assertInstanceOf(RequestOutcome.Applied.class, counter.outcome(id));
    RequestId never = RequestId.of("never");
    counter.cancel(never);
    assertInstanceOf(AddResult.Rejected.class, counter.add(-1, never));
    rejected(() -> Backends.on(new MemoryDriver()).counter(""));
  }

  @Test
  void aListingBeginsAfterANameAndNeverWithIt() {
    MarkerItem counters = new MarkerItem(store);
    for (String name : List.of("a", "a!", "ab", "b")) {
      counters.add(new Add(name, 1, null));
    }
    assertEquals(List.of("a!", "ab"), names(counters.list("a", "a", 9)));
    assertEquals(List.of("a", "a!", "ab"), names(counters.list("a", "", 9)));
    assertEquals(List.of("ab"), names(counters.list("a", "a!", 9)));
    CounterPage first = counters.list("", "", 3);
    assertEquals(List.of("a", "a!", "ab"), names(first));
    assertEquals(Optional.of("ab"), first.resumeAfter());
    CounterPage rest = counters.list("", "ab", 1);
    assertEquals(List.of("b"), names(rest));
    assertEquals(Optional.empty(), rest.resumeAfter());
    rejected(() -> counters.list("", "", 0));
    rejected(() -> counters.list("", "", Limits.PAGE_COUNTERS_MAX + 1));
  }

  private static List<String> names(CounterPage page) {
    return page.counters().stream().map(CounterPage.Entry::name).toList();
  }

  @Test
  void textsAreMeasuredInBytesOfUtf8() {
    for (String each :
        List.of(" ", "~", "\u00a0", "\u07ff", "\u0800", "\uffff", "\uD800\uDC00", "\uDBFF\uDFFF")) {
      int bytes = each.getBytes(StandardCharsets.UTF_8).length;
      assertEquals(bytes, Limits.utf8Length(each));
      assertEquals(each, Limits.checkText("text", each, bytes));
      rejected(() -> Limits.checkText("text", each, bytes - 1));
    }
    for (String each : List.of("\u001f", "\u007f", "\u009f", "\uD800", "\uDC00", "a\uD800a")) {
      rejected(() -> Limits.checkText("text", each, 9));
    }
  }

  @Test
  void aRejectionComesRightBehindTheBound() {
    Bounds bounds = Bounds.between(-2, 2);
    for (long value = -2; value <= 2; value++) {
      for (long delta = -5; delta <= 5; delta++) {
        long after = value + delta;
        Rejection expected = after < -2 ? Rejection.FLOOR : after > 2 ? Rejection.CEILING : null;
        assertEquals(expected, Rejection.of(value, delta, bounds), value + " and " + delta);
      }
    }
    assertEquals(Rejection.OVERFLOW, Rejection.of(Long.MIN_VALUE, -1, Bounds.none()));
    assertEquals(Rejection.OVERFLOW, Rejection.of(Long.MAX_VALUE, 1, Bounds.none()));
    assertEquals(null, Rejection.of(Long.MAX_VALUE, Long.MIN_VALUE, Bounds.none()));
  }

  @Test
  void marksOfBoundsDifferInAllTheirBits() {
    Set<Integer> marks = new HashSet<>();
    int ones = 0;
    for (long shift = 0; shift < 62; shift++) {
      int mark = new Add("a", 1, Bounds.between(-(1L << shift), 1L << shift), null).boundsMark();
      marks.add(mark);
      ones += Integer.bitCount(mark);
    }
    assertEquals(62, marks.size());
    assertEquals(16, ones / 62.0, 1.5);
  }

  @Test
  void viewsAreKeptWithinLimits() {
    for (Duration keep : List.of(Duration.ofNanos(1), ViewOptions.KEEP_MAX)) {
      assertEquals(Optional.of(keep), ViewOptions.EXACT.keeping(keep).keep());
    }
    for (Duration keep : List.of(Duration.ZERO, ViewOptions.KEEP_MAX.plusNanos(1))) {
      rejected(() -> ViewOptions.EXACT.keeping(keep));
    }
    for (ViewIdentity identity : ViewIdentity.ALL) {
      assertEquals(identity, ViewIdentity.named(identity.name()));
    }
  }

  @Test
  void theFirstValueOfABranchStandsOnAnotherOrOnNothing() {
    VersionNode.Branch one = new VersionNode.Branch(1, "1");
    VersionNode.Branch two = new VersionNode.Branch(2, "2");
    VersionNode root = VersionNode.first(one, Optional.empty(), 5, 10);
    assertEquals(Arrays.asList(1L, 5L, 5L), Arrays.asList(root.number(), root.count(), root.own()));
    VersionNode next = root.next(-7, 9);
    assertEquals(2, next.number());
    assertEquals(10, next.millis(), "time does not go back within a branch");
    assertEquals(List.of(-2L, -2L, 5L), List.of(next.count(), next.least(), next.most()));
    VersionNode child = VersionNode.first(two, Optional.of(next), 3, 20);
    assertEquals(List.of(3L, 1L, 3L), List.of(child.number(), child.count(), child.own()));
    assertEquals(Optional.of(next.version()), child.parent());
    VersionNode high = VersionNode.first(one, Optional.empty(), Long.MAX_VALUE, 10);
    VersionNode anew = VersionNode.first(two, Optional.of(high), 1, 20);
    assertEquals(Optional.empty(), anew.parent(), "a sum of more than 64 bits starts again");
    assertEquals(List.of(1L, 1L), List.of(anew.number(), anew.count()));
    assertThrows(ArithmeticException.class, () -> high.next(1, 30));
    assertNotEquals(root.version(), anew.version());
  }
}
