package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The counters of one test, and calls of them that several contracts share. */
abstract class CountersFixture {
  /** Tries of an add that others overtake. */
  private static final int INSISTENCE_MAX = 20;

  /** The time of the counters. */
  ManualClock clock;

  /** The counters on trial. */
  Counters counters;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openCounters before each test
  CountersFixture() {}

  /** Opens empty counters that remember ids for {@link CountersContract#WINDOW}, or forever. */
  protected abstract Counters open(ManualClock clock) throws Exception;

  /** Closes what {@link #open} opened. */
  protected void close() throws Exception {}

  @BeforeEach
  final void openCounters() throws Exception {
    // A store with expiry of its own goes by the time of the day.
    clock = new ManualClock(Clock.system().epochMillis());
    counters = open(clock);
  }

  @AfterEach
  final void closeCounters() throws Exception {
    close();
  }

  boolean canList() {
    try {
      counters.list("", "", 1);
      return true;
    } catch (UnsupportedOperationException e) {
      return false;
    }
  }

  List<String> listed(String prefix, int limit) {
    List<String> found = new ArrayList<>();
    String after = "";
    while (true) {
      CounterPage page = counters.list(prefix, after, limit);
      assertTrue(page.counters().size() <= limit);
      page.counters().forEach(entry -> found.add(entry.name()));
      if (page.resumeAfter().isEmpty()) {
        return found;
      }
      after = page.resumeAfter().get();
    }
  }

  /** Repeats an add that was not applied because of contention. */
  static AddResult insisting(Supplier<AddResult> add) {
    for (int i = 1; ; i++) {
      try {
        return add.get();
      } catch (QuipuException e) {
        boolean isOvertaken = e.outcome() == Outcome.NOT_APPLIED && e.reason() == Reason.THROTTLED;
        if (!isOvertaken || i == INSISTENCE_MAX) {
          throw e;
        }
      }
    }
  }

  void needsBounds() {
    assumeTrue(
        counters.promises(Guarantee.BOUNDED),
        () -> counters.technique() + " does not support bounds");
  }

  void needsIds() {
    assumeTrue(
        counters.remembersIds(), () -> counters.technique() + " does not support request ids");
  }

  void needsLookUp() {
    needsIds();
    try {
      counters.outcome("a", RequestId.of("id"));
    } catch (UnsupportedOperationException e) {
      abort(counters.technique() + " cannot look a request up");
    }
  }

  AddResult add(String name, long delta, @Nullable String id) {
    return add(name, delta, Bounds.none(), id);
  }

  AddResult add(String name, long delta, Bounds bounds, @Nullable String id) {
    return counters.add(new Add(name, delta, bounds, id == null ? null : RequestId.of(id)));
  }

  long value(String name) {
    return counters.read(name).orElseThrow().value();
  }

  void applied(long added, long value, ItemResult result) {
    AddResult.Applied applied = assertInstanceOf(AddResult.Applied.class, result);
    assertEquals(added, applied.added());
    if (counters.promises(Guarantee.ADD_AND_GET)) {
      assertEquals(OptionalLong.of(value), applied.valueIfKnown());
    }
  }
}
