package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Several adds in one call: independent, in order for one counter, concurrent for several. */
final class AddAllTest {
  /** Counters whose adds return the result of a function. */
  private record Answering(Function<Add, AddResult> answer) implements Technique {
    @Override
    public TechniqueSpec spec() {
      return Techniques.ALL.getFirst();
    }

    @Override
    public AddResult add(Add add) {
      return answer.apply(add);
    }

    @Override
    public Optional<Reading> read(String counter) {
      throw new AssertionError("nothing is read");
    }

    @Override
    public CounterPage list(String prefix, String after, int limit) {
      throw new AssertionError("nothing is listed");
    }
  }

  private static AddResult applied(Add add) {
    return new AddResult.Applied(add.delta(), OptionalLong.empty());
  }

  private static Add add(String counter, long delta) {
    return new Add(counter, delta, null);
  }

  @Test
  void aFailedAddHasItsOwnResultAndTheOthersContinue() {
    Map<String, RuntimeException> causes =
        Map.of(
            "unknown", new OutcomeUnknownException(Reason.TIMEOUT, "no answer", null),
            "unsupported", new UnsupportedOperationException("no bounds"),
            "invalid", new IllegalArgumentException("too long"),
            "bug", new IllegalStateException("a bug"));
    Counters counters =
        new Answering(add -> {
          RuntimeException cause = causes.get(add.counter());
          if (cause != null) {
            throw cause;
          }
          return applied(add);
        });
    List<Add> adds = new ArrayList<>();
    adds.add(add("a", 1));
    causes.keySet().forEach(name -> adds.add(add(name, 2)));
    adds.add(add("a", 3));
    for (List<ItemResult> results :
        List.of(counters.addAll(adds), counters.addAll(adds, () -> true))) {
      expect(adds, causes, results);
    }
    assertEquals(List.of(), counters.addAll(List.of()));
  }

  private static void expect(
      List<Add> adds, Map<String, RuntimeException> causes, List<ItemResult> results) {
    assertEquals(adds.size(), results.size());
    assertEquals(applied(adds.getFirst()), results.getFirst());
    assertEquals(applied(adds.getLast()), results.getLast().result());
    for (int i = 1; i < adds.size() - 1; i++) {
      ItemResult result = results.get(i);
      RuntimeException cause = causes.get(adds.get(i).counter());
      assertSame(cause, assertThrows(RuntimeException.class, result::result));
    }
  }

  @Test
  void addsToOneCounterAreDoneInOrder() {
    Map<String, List<Long>> done = new ConcurrentHashMap<>();
    Counters counters =
        new Answering(add -> {
          done.computeIfAbsent(
                  add.counter(), name -> Collections.synchronizedList(new ArrayList<>()))
              .add(add.delta());
          return applied(add);
        });
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      adds.add(add("counter-" + i % 37, 1 + i));
    }
    List<ItemResult> results = counters.addAll(adds, () -> true);
    for (int i = 0; i < adds.size(); i++) {
      assertEquals(applied(adds.get(i)), results.get(i));
    }
    assertEquals(37, done.size());
    done.values().forEach(deltas -> assertEquals(deltas.stream().sorted().toList(), deltas));
  }

  @Test
  void addsToSeveralCountersAreConcurrent() {
    CyclicBarrier together = new CyclicBarrier(16);
    Counters counters =
        new Answering(add -> {
          try {
            together.await();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
          return applied(add);
        });
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      adds.add(add("counter-" + i, 1));
    }
    counters.addAll(adds, () -> true).forEach(ItemResult::result);
  }

  @Test
  void addsNotBegunInTimeDidNotCount() {
    AtomicInteger begun = new AtomicInteger();
    Counters counters =
        new Answering(add -> {
          begun.incrementAndGet();
          return applied(add);
        });
    List<Add> adds = Collections.nCopies(10, add("a", 1));
    List<ItemResult> results = counters.addAll(adds, () -> begun.get() < 4);
    assertEquals(4, begun.get());
    for (int i = 0; i < 10; i++) {
      if (i < 4) {
        assertInstanceOf(AddResult.Applied.class, results.get(i));
      } else {
        QuipuException why = assertThrows(QuipuException.class, results.get(i)::result);
        assertEquals(Outcome.NOT_APPLIED, why.outcome());
        assertEquals(Reason.TIMEOUT, why.reason());
      }
    }
  }

  /** The store does not respond, and the caller must. */
  @Test
  void whatIsUnderWayInTheEndIsUnknownAndTheOthersHaveTheirResults() {
    CountDownLatch never = new CountDownLatch(1);
    AtomicInteger begun = new AtomicInteger();
    Counters counters =
        new Answering(add -> {
          begun.incrementAndGet();
          if (add.counter().equals("stuck")) {
            try {
              never.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
          return applied(add);
        });
    for (List<Add> adds :
        List.of(
            List.of(add("a", 1), add("stuck", 1), add("stuck", 2), add("b", 1)),
            List.of(add("stuck", 1), add("stuck", 2)))) {
      begun.set(0);
      int mayBegin = adds.size() - 1;
      List<ItemResult> results = counters.addAll(adds, () -> true, () -> begun.get() < mayBegin);
      for (int i = 0; i < adds.size(); i++) {
        if (!adds.get(i).counter().equals("stuck")) {
          assertEquals(applied(adds.get(i)), results.get(i));
          continue;
        }
        QuipuException why = assertThrows(QuipuException.class, results.get(i)::result);
        boolean hasBegun = adds.get(i).delta() == 1;
        assertEquals(hasBegun ? Outcome.UNKNOWN : Outcome.NOT_APPLIED, why.outcome());
        assertEquals(Reason.TIMEOUT, why.reason());
      }
    }
    never.countDown();
  }

  /** What was answered as not applied must not begin afterwards. */
  @Test
  void whatWasReportedAsNotAppliedNeverBegins() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    AtomicInteger begun = new AtomicInteger();
    Counters counters =
        new Answering(add -> {
          begun.incrementAndGet();
          boolean isInterrupted = false;
          while (release.getCount() > 0) { // a store whose client does not mind interrupts
            try {
              release.await();
            } catch (InterruptedException e) {
              isInterrupted = true;
            }
          }
          if (isInterrupted) {
            Thread.currentThread().interrupt();
          }
          ended.countDown();
          return applied(add);
        });
    List<Add> adds = List.of(add("a", 1), add("a", 2));
    List<ItemResult> results = counters.addAll(adds, () -> true, () -> begun.get() < 1);
    QuipuException first = assertThrows(QuipuException.class, results.get(0)::result);
    QuipuException second = assertThrows(QuipuException.class, results.get(1)::result);
    assertEquals(Outcome.UNKNOWN, first.outcome());
    assertEquals(Outcome.NOT_APPLIED, second.outcome());
    release.countDown();
    ended.await();
    assertEquals(applied(add("b", 1)), counters.add(add("b", 1))); // the worker has gone on
    assertEquals(2, begun.get());
  }

  /**
   * An error is not the result of an add: the caller must not continue as if nothing had happened.
   */
  @Test
  void anErrorEndsTheCall() {
    Error error = new StackOverflowError("on purpose");
    Counters counters =
        new Answering(add -> {
          throw error;
        });
    assertSame(error, assertThrows(Error.class, () -> counters.addAll(List.of(add("a", 1)))));
    Exception why =
        assertThrows(
            IllegalStateException.class,
            () -> counters.addAll(List.of(add("a", 1), add("b", 1)), () -> true));
    assertSame(error, why.getCause());
  }

  @Test
  void aCallHasLimits() {
    Counters counters = new Answering(AddAllTest::applied);
    List<Add> adds = Collections.nCopies(10_000, add("a", 1));
    assertEquals(10_000, counters.addAll(adds).size());
    Exception why =
        assertThrows(
            IllegalArgumentException.class,
            () -> counters.addAll(Collections.nCopies(10_001, add("a", 1))));
    assertEquals(
        "10001 adds in one call; the limit is 10000. Send several calls", why.getMessage());
  }
}
