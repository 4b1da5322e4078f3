package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import dev.quipu.testkit.ConcurrentClients;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What setting, deleting and reading several counters must answer, and where counters start. */
abstract class SetContract extends CountersFixture {
  @Test
  final void aCounterCanBeSetWhateverItsValue() {
    needsSet();
    applied(5, 5, add("a", 5, null));
    assertEquals(new SetResult.Done(40), set("a", 40));
    assertEquals(40, value("a"));
    applied(2, 42, add("a", 2, null));
    assertEquals(new SetResult.Done(-7), set("new", -7));
    assertEquals(-7, value("new"));
    assertEquals(new SetResult.Done(0), set("zero", 0));
    assertEquals(0, value("zero"));
    if (canList()) {
      assertEquals(List.of("a", "new", "zero"), listed("", 10));
    }
  }

  @Test
  final void aSetOnConditionNeedsTheValue() {
    needsSet();
    assertEquals(new SetResult.Mismatch(OptionalLong.empty()), set("a", 3, 1));
    assertEquals(Optional.empty(), counters.read("a"));
    assertEquals(new SetResult.Done(3), set("a", 3, 0));
    assertEquals(new SetResult.Mismatch(OptionalLong.of(3)), set("a", 9, 0));
    assertEquals(3, value("a"));
    assertEquals(new SetResult.Done(9), set("a", 9, 3));
    assertEquals(new SetResult.Done(9), set("a", 9, 9));
    applied(1, 10, add("a", 1, null));
    assertEquals(new SetResult.Mismatch(OptionalLong.of(10)), set("a", 11, 9));
    assertEquals(10, value("a"));
  }

  @Test
  final void theEndsOfTheRangeCanBeSet() {
    needsSet();
    assertEquals(new SetResult.Done(Long.MAX_VALUE), set("a", Long.MAX_VALUE));
    assertEquals(Long.MAX_VALUE, value("a"));
    assertEquals(new SetResult.Done(Long.MIN_VALUE), set("a", Long.MIN_VALUE, Long.MAX_VALUE));
    assertEquals(Long.MIN_VALUE, value("a"));
  }

  @Test
  final void aDeletedCounterIsGoneAndCanBeginAgain() {
    needsSet();
    applied(5, 5, add("a", 5, null));
    applied(1, 1, add("b", 1, null));
    counters.delete("a");
    counters.delete("a");
    counters.delete("never-written");
    assertEquals(Optional.empty(), counters.read("a"));
    if (canList()) {
      assertEquals(List.of("b"), listed("", 10));
    }
    assertEquals(new SetResult.Mismatch(OptionalLong.empty()), set("a", 6, 5));
    applied(2, 2, add("a", 2, null));
    counters.delete("a");
    assertEquals(new SetResult.Done(8), set("a", 8, 0));
    assertEquals(8, value("a"));
    if (canList()) {
      assertEquals(List.of("a", "b"), listed("", 10));
    }
  }

  @Test
  final void requestIdsOutliveASetAndADeletion() {
    needsSet();
    needsIds();
    applied(5, 5, add("a", 5, "id"));
    set("a", 100);
    assertInstanceOf(AddResult.Replayed.class, add("a", 5, "id"));
    assertEquals(100, value("a"));
    counters.delete("a");
    assertInstanceOf(AddResult.Replayed.class, add("a", 5, "id"));
    assertEquals(Optional.empty(), counters.read("a"));
    assertEquals(new AddResult.Conflict(5), add("a", 6, "id"));
  }

  @Test
  final void theOutcomeOfARequestOutlivesADeletion() {
    needsSet();
    needsLookUp();
    applied(5, 5, add("a", 5, "id"));
    counters.cancel("a", RequestId.of("canceled"));
    counters.delete("a");
    assertInstanceOf(RequestOutcome.Applied.class, counters.outcome("a", RequestId.of("id")));
    assertInstanceOf(
        RequestOutcome.Canceled.class, counters.outcome("a", RequestId.of("canceled")));
    assertInstanceOf(AddResult.Rejected.class, add("a", 1, "canceled"));
    assertEquals(Optional.empty(), counters.read("a"));
  }

  @Test
  final void setsOnConditionAndAddsLoseNothing() throws Exception {
    needsSet();
    ConcurrentClients.run(
        8,
        client -> {
          for (int i = 0; i < 5; i++) {
            if (client % 2 == 0) {
              incrementBySet("visits");
            } else {
              insisting(() -> add("visits", 1, null));
            }
          }
          return 0;
        });
    assertEquals(40, value("visits"));
  }

  private void incrementBySet(String name) {
    while (true) {
      long now = counters.read(name).map(Reading::value).orElse(0L);
      try {
        if (set(name, now + 1, now) instanceof SetResult.Done) {
          return;
        }
      } catch (QuipuException e) {
        if (e.outcome() != Outcome.NOT_APPLIED || e.reason() != Reason.THROTTLED) {
          throw e;
        }
      }
    }
  }

  @Test
  final void techniquesThatCannotSetSaySo() {
    assumeTrue(!canSet(), "can set");
    for (Exception why :
        List.of(
            assertThrows(UnsupportedOperationException.class, () -> set("a", 1)),
            assertThrows(UnsupportedOperationException.class, () -> counters.delete("a")))) {
      assertTrue(String.valueOf(why.getMessage()).contains("marker-item"), why.getMessage());
    }
    assertEquals(Optional.empty(), counters.read("a"));
  }

  @Test
  final void severalCountersAreReadInOneCall() {
    for (int i = 0; i < 40; i++) {
      applied(i + 1, i + 1, add("counter-" + i, i + 1, null));
    }
    assertEquals(
        List.of(
            Optional.of(Reading.exact(3)),
            Optional.empty(),
            Optional.of(Reading.exact(40)),
            Optional.of(Reading.exact(3))),
        counters.readAll(List.of("counter-2", "never-written", "counter-39", "counter-2")));
    List<String> names = Collections.nCopies(Limits.PAGE_COUNTERS_MAX + 1, "counter-0");
    assertThrows(IllegalArgumentException.class, () -> counters.readAll(names));
    assertThrows(IllegalArgumentException.class, () -> counters.readAll(List.of("counter-0", "")));
    assertEquals(List.of(), counters.readAll(List.of()));
  }

  @Test
  final void aCounterThatWouldStartBelowItsFloorIsRejected() {
    needsBounds();
    Bounds bounds = Bounds.atLeast(5);
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), add("a", 3, bounds, null));
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), add("a", -3, bounds, null));
    assertEquals(Optional.empty(), counters.read("a"));
    applied(7, 7, add("a", 7, bounds, null));
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 7), add("a", -3, bounds, null));
    applied(-2, 5, add("a", -2, bounds, null));
  }

  @Test
  final void aCounterThatWouldStartAboveItsCeilingIsRejected() {
    needsBounds();
    Bounds bounds = Bounds.atMost(-5);
    assertEquals(new AddResult.Rejected(Rejection.CEILING, 0), add("a", -3, bounds, null));
    assertEquals(new AddResult.Rejected(Rejection.CEILING, 0), add("a", 3, bounds, null));
    assertEquals(Optional.empty(), counters.read("a"));
    applied(-7, -7, add("a", -7, bounds, null));
    assertEquals(new AddResult.Rejected(Rejection.CEILING, -7), add("a", 3, bounds, null));
    applied(2, -5, add("a", 2, bounds, null));
  }

  private SetResult set(String name, long value) {
    return counters.set(name, value, OptionalLong.empty());
  }

  private SetResult set(String name, long value, long ifValue) {
    return counters.set(name, value, OptionalLong.of(ifValue));
  }

  private boolean canSet() {
    try {
      counters.delete("never-written");
      return true;
    } catch (UnsupportedOperationException e) {
      return false;
    }
  }

  private void needsSet() {
    if (!canSet()) {
      abort(counters.technique() + " cannot set a counter");
    }
  }
}
