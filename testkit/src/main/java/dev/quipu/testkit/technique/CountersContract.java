package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.store.Key;
import dev.quipu.testkit.ConcurrentClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * The contract of every technique, independent of the store. Tests of guarantees that a technique
 * does not give are skipped.
 */
public abstract class CountersContract extends SetContract {
  /** How long ids are remembered, if they are forgotten at all. */
  protected static final Duration WINDOW = Duration.ofHours(1);

  /** For subclasses. */
  protected CountersContract() {}

  @Test
  final void aCounterThatWasNeverWrittenIsMissing() {
    assertEquals(Optional.empty(), counters.read("a"));
  }

  @Test
  final void addsAddUp() {
    applied(5, 5, add("a", 5, null));
    applied(-7, -2, add("a", -7, null));
    applied(1, 1, add("b", 1, null));
    assertEquals(Optional.of(Reading.exact(-2)), counters.read("a"));
  }

  @Test
  final void aRepeatCountsOnceAndReturnsTheSame() {
    needsIds();
    applied(5, 5, add("a", 5, "id"));
    applied(1, 6, add("a", 1, "other"));
    AddResult.Replayed again = assertInstanceOf(AddResult.Replayed.class, add("a", 5, "id"));
    assertEquals(5, again.added());
    assertEquals(5, again.valueIfKnown().orElse(5), "the value is right or left out");
    assertEquals(6, value("a"));
  }

  @Test
  final void equalIdsAreOneRequestWhateverTheirText() {
    needsIds();
    RequestId id = RequestId.of("order-981");
    applied(5, 5, add("a", 5, "order-981"));
    Add same = new Add("a", 5, RequestId.of(id.high(), id.low()));
    assertInstanceOf(AddResult.Replayed.class, counters.add(same));
    assertEquals(5, value("a"));
  }

  @Test
  final void anIdBelongsToOneCounterAndOneRequest() {
    needsIds();
    applied(5, 5, add("a", 5, "id"));
    applied(5, 5, add("b", 5, "id"));
    assertEquals(new AddResult.Conflict(5), add("a", 6, "id"));
    assertEquals(5, value("a"));
    assertEquals(5, value("b"));
  }

  @Test
  final void anIdBelongsToItsBounds() {
    needsIds();
    needsBounds();
    applied(5, 5, add("a", 5, "id"));
    assertEquals(new AddResult.Conflict(5), add("a", 5, Bounds.atMost(9), "id"));
    applied(2, 7, add("a", 2, Bounds.atMost(9), "bounded"));
    assertEquals(new AddResult.Conflict(2), add("a", 2, "bounded"));
    assertEquals(new AddResult.Conflict(2), add("a", 2, Bounds.atMost(8), "bounded"));
    assertEquals(7, value("a"));
  }

  @Test
  final void boundsThatCannotBeKeptAreRejected() {
    assumeTrue(!counters.promises(Guarantee.BOUNDED), "keeps bounds");
    assertThrows(UnsupportedOperationException.class, () -> add("a", 1, Bounds.atMost(9), null));
    assertEquals(Optional.empty(), counters.read("a"));
  }

  @Test
  final void addsOfManyClientsAddUp() throws Exception {
    ConcurrentClients.run(
        16,
        client -> {
          for (int i = 0; i < 10; i++) {
            assertInstanceOf(AddResult.Applied.class, add("visits", 1, null));
          }
          return 0;
        });
    assertEquals(160, value("visits"));
  }

  @Test
  final void boundsHoldAtBothEdgesAndARejectionConsumesNothing() {
    needsBounds();
    Bounds bounds = Bounds.between(-1, 3);
    applied(3, 3, add("a", 3, bounds, null));
    assertEquals(new AddResult.Rejected(Rejection.CEILING, 3), add("a", 1, bounds, null));
    applied(-4, -1, add("a", -4, bounds, null));
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, -1), add("a", -1, bounds, null));
    assertEquals(new AddResult.Rejected(Rejection.CEILING, -1), add("a", 5, bounds, null));
    assertEquals(-1, value("a"));
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), add("new", -2, bounds, null));
    assertEquals(Optional.empty(), counters.read("new"));
  }

  @Test
  final void aRejectionIsNotRemembered() {
    needsBounds();
    needsIds();
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), add("a", -1, Bounds.atLeast(0), "id"));
    applied(1, 1, add("a", 1, null));
    applied(-1, 0, add("a", -1, Bounds.atLeast(0), "id"));
    assertInstanceOf(AddResult.Replayed.class, add("a", -1, Bounds.atLeast(0), "id"));
    assertEquals(0, value("a"));
  }

  @Test
  final void aCounterOutsideItsBoundsMayMoveBackIn() {
    needsBounds();
    applied(10, 10, add("a", 10, null));
    applied(-1, 9, add("a", -1, Bounds.between(0, 5), null));
    assertEquals(
        new AddResult.Rejected(Rejection.CEILING, 9), add("a", 1, Bounds.between(0, 5), null));
  }

  @Test
  final void overflowIsRejectedAtBothEnds() {
    needsBounds();
    applied(Long.MAX_VALUE, Long.MAX_VALUE, add("max", Long.MAX_VALUE, null));
    assertEquals(new AddResult.Rejected(Rejection.OVERFLOW, Long.MAX_VALUE), add("max", 1, null));
    applied(Long.MIN_VALUE, Long.MIN_VALUE, add("min", Long.MIN_VALUE, null));
    assertEquals(new AddResult.Rejected(Rejection.OVERFLOW, Long.MIN_VALUE), add("min", -1, null));
    assertEquals(
        new AddResult.Rejected(Rejection.OVERFLOW, Long.MIN_VALUE),
        add("min", Long.MIN_VALUE, null));
    assertEquals(Long.MAX_VALUE, value("max"));
    assertEquals(Long.MIN_VALUE, value("min"));
  }

  @Test
  final void valuesOutsideTheLimitsAreRejected() {
    String longest = "é".repeat(Limits.NAME_BYTES_MAX / 2);
    applied(1, 1, add(longest, 1, null));
    for (String name : List.of("", longest + "x", "a\nb", "\u0000", "\uD800", "\u0085")) {
      assertThrows(IllegalArgumentException.class, () -> add(name, 1, null));
      assertThrows(IllegalArgumentException.class, () -> counters.read(name));
    }
    assertThrows(IllegalArgumentException.class, () -> add("a", 0, null));
    assertThrows(IllegalArgumentException.class, () -> counters.list("", "", 0));
    assertThrows(
        IllegalArgumentException.class, () -> counters.list("", "", Limits.PAGE_COUNTERS_MAX + 1));
  }

  @Test
  final void namesOfAnyCharactersAreDistinguished() {
    List<String> names =
        List.of(
            "a",
            "A",
            "a ",
            "a/b",
            "a%2Fb",
            "a#",
            "../x",
            "数",
            "\uD83D\uDE00",
            "é",
            "e\u0301",
            "value",
            "request/x",
            "counters",
            "<script>",
            "\u202E");
    for (int i = 0; i < names.size(); i++) {
      applied(i + 1, i + 1, add(names.get(i), i + 1, null));
    }
    for (int i = 0; i < names.size(); i++) {
      assertEquals(i + 1, value(names.get(i)), names.get(i));
    }
    if (canList()) {
      assertEquals(names.stream().sorted(Key.ORDER).toList(), listed("", 5));
    }
  }

  @Test
  final void aListingShowsEachCounterOnceInOrderWhateverThePage() {
    assumeTrue(canList(), "the store has no order");
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 23; i++) {
      names.add("page/%02d".formatted(i));
      applied(i + 1, i + 1, add(names.get(i), i + 1, null));
    }
    applied(1, 1, add("page", 1, null));
    applied(1, 1, add("pagf", 1, null));
    for (int limit : List.of(1, 7, 23, 24, Limits.PAGE_COUNTERS_MAX)) {
      assertEquals(names, listed("page/", limit));
    }
    CounterPage page = counters.list("page/", "page/20", 10);
    assertEquals(new CounterPage.Entry("page/21", Reading.exact(22)), page.counters().getFirst());
    assertEquals(Optional.empty(), page.resumeAfter());
    assertEquals(List.of(), listed("nothing", 10));
  }

  @Test
  final void theOutcomeOfARequestCanBeRead() {
    needsLookUp();
    RequestId id = RequestId.of("id");
    assertInstanceOf(RequestOutcome.NotSeen.class, counters.outcome("a", id));
    add("a", 5, "id");
    assertEquals(5, outcomeApplied(counters.outcome("a", id)).added());
    assertInstanceOf(RequestOutcome.NotSeen.class, counters.outcome("b", id));
  }

  @Test
  final void aCanceledRequestNeverApplies() {
    needsLookUp();
    RequestId id = RequestId.of("id");
    assertInstanceOf(RequestOutcome.Canceled.class, counters.cancel("a", id));
    assertInstanceOf(RequestOutcome.Canceled.class, counters.cancel("a", id));
    assertInstanceOf(RequestOutcome.Canceled.class, counters.outcome("a", id));
    assertEquals(
        Rejection.CANCELED, assertInstanceOf(AddResult.Rejected.class, add("a", 5, "id")).why());
    assertEquals(Optional.empty(), counters.read("a"));
    applied(5, 5, add("a", 5, "other"));
    assertEquals(5, outcomeApplied(counters.cancel("a", RequestId.of("other"))).added());
    OptionalLong value =
        assertInstanceOf(AddResult.Rejected.class, add("a", 5, "id")).valueIfKnown();
    assertEquals(5, value.orElse(5), "the value is right or left out");
  }

  @Test
  final void techniquesWithoutIdsSaySo() {
    assumeTrue(!counters.remembersIds(), "remembers ids");
    RequestId id = RequestId.of("id");
    assertThrows(UnsupportedOperationException.class, () -> add("a", 1, "id"));
    assertThrows(UnsupportedOperationException.class, () -> counters.outcome("a", id));
    assertThrows(UnsupportedOperationException.class, () -> counters.cancel("a", id));
    assertEquals(Optional.empty(), counters.read("a"));
  }

  @Test
  final void anIdIsRememberedForTheWindow() {
    assumeTrue(counters.promises(Guarantee.IDEMPOTENT_WITHIN_WINDOW), "remembers ids forever");
    needsLookUp();
    applied(5, 5, add("a", 5, "id"));
    counters.cancel("a", RequestId.of("canceled"));
    clock.advance(WINDOW.minusMillis(1));
    assertInstanceOf(AddResult.Replayed.class, add("a", 5, "id"));
    assertInstanceOf(AddResult.Rejected.class, add("a", 5, "canceled"));
    clock.advance(WINDOW);
    applied(5, 10, add("a", 5, "id"));
    applied(5, 15, add("a", 5, "canceled"));
  }

  @Test
  final void anIdIsRememberedForEver() {
    assumeTrue(counters.promises(Guarantee.IDEMPOTENT), "forgets ids after the window");
    applied(5, 5, add("a", 5, "id"));
    clock.advance(Duration.ofDays(10_000));
    assertInstanceOf(AddResult.Replayed.class, add("a", 5, "id"));
  }

  @Test
  final void severalAddsAreAnsweredInOrderEachByItself() {
    needsBounds();
    List<ItemResult> results =
        counters.addAll(
            List.of(
                new Add("a", 2, null),
                new Add("a", -3, Bounds.atLeast(0), null),
                new Add("b", 1, null),
                new Add("a", -2, Bounds.atLeast(0), null)));
    applied(2, 2, results.get(0));
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 2), results.get(1));
    applied(1, 1, results.get(2));
    applied(-2, 0, results.get(3));
    assertEquals(4, results.size());
    assertEquals(List.of(), counters.addAll(List.of()));
  }

  @Test
  final void twinsUnderOneIdCountOnce() throws Exception {
    needsIds();
    for (int round = 0; round < 10; round++) {
      String id = "id" + round;
      List<AddResult> answers = ConcurrentClients.run(16, client -> add("a", 3, id));
      assertEquals(
          1, answers.stream().filter(answer -> answer instanceof AddResult.Applied).count());
      assertEquals(
          15, answers.stream().filter(answer -> answer instanceof AddResult.Replayed).count());
      assertEquals(3L * (round + 1), value("a"));
    }
  }

  @Test
  final void manyClientsLoseNothingAndNeverCrossTheFloor() throws Exception {
    needsBounds();
    applied(100, 100, add("stock", 100, null));
    List<Integer> sold =
        ConcurrentClients.run(
            8,
            client -> {
              int taken = 0;
              for (int i = 0; i < 20; i++) {
                AddResult result = insisting(() -> add("stock", -1, Bounds.atLeast(0), null));
                taken += result instanceof AddResult.Applied ? 1 : 0;
                insisting(() -> add("visits", 1, null));
              }
              return taken;
            });
    assertEquals(100, sold.stream().mapToInt(Integer::intValue).sum());
    assertEquals(0, value("stock"));
    assertEquals(160, value("visits"));
  }

  private static RequestOutcome.Applied outcomeApplied(RequestOutcome outcome) {
    return assertInstanceOf(RequestOutcome.Applied.class, outcome);
  }
}
