package dev.quipu.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.technique.Attributed;
import dev.quipu.technique.MarkerItem;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Each meter of calls and of a store moves when the call that it counts is made. */
final class QuipuMetricsTest {
  private static final String NAME = "secret-name";
  private static final RequestId ID = RequestId.of("order-1");

  private final Meters meters = new Meters();
  private final Deque<QuipuException> failures = new ArrayDeque<>();
  private final Quipu quipu = Backends.on(failing(failures));

  QuipuMetricsTest() {
    new QuipuMetrics(quipu, Tags.of("region", "eu")).bindTo(meters.registry);
  }

  /** Returns a store in memory whose next writes are lost before or after their effect. */
  private static InterceptingDriver failing(Queue<QuipuException> failures) {
    return new InterceptingDriver(
        new MemoryDriver(),
        new InterceptingDriver.Interceptor() {
          @Override
          public <T> T call(Supplier<T> call) {
            QuipuException failure = failures.poll();
            if (failure instanceof NotAppliedException) {
              throw failure;
            }
            T result = call.get();
            if (failure != null) {
              throw failure;
            }
            return result;
          }
        });
  }

  private static Add add(long delta, RequestId id) {
    return new Add(NAME, delta, Bounds.atLeast(0), id);
  }

  private long adds(String outcome) {
    return meters.count("quipu.adds", "technique", "marker-item", "outcome", outcome);
  }

  private long calls(String call) {
    return meters.count("quipu.calls", "store", "memory", "call", call);
  }

  private long storeCalls(String operation, String outcome) {
    return meters.count("quipu.store.calls", "operation", operation, "outcome", outcome);
  }

  @Test
  void addsAreCountedByOutcome() {
    Counters counters = quipu.counters();
    assertInstanceOf(AddResult.Applied.class, counters.add(add(5, ID)));
    assertInstanceOf(AddResult.Replayed.class, counters.add(add(5, ID)));
    assertInstanceOf(AddResult.Conflict.class, counters.add(add(6, ID)));
    assertInstanceOf(AddResult.Rejected.class, counters.add(add(-9, RequestId.of("2"))));
    var cancel = counters.cancel(NAME, RequestId.of("3"));
    assertInstanceOf(AddResult.Rejected.class, counters.add(add(1, RequestId.of("3"))));
    Add high = new Add(NAME, 9, Bounds.atMost(10), RequestId.of("4"));
    assertInstanceOf(AddResult.Rejected.class, counters.add(high));
    Add huge = new Add(NAME, Long.MAX_VALUE, Bounds.none(), RequestId.of("5"));
    assertInstanceOf(AddResult.Rejected.class, counters.add(huge));
    assertTrue(cancel.toString().contains("Canceled"));
    for (String each :
        List.of("applied", "replayed", "conflict", "rejected_floor", "rejected_canceled")) {
      assertEquals(1, adds(each), each);
    }
    assertEquals(1, adds("rejected_ceiling"));
    assertEquals(1, adds("rejected_overflow"));
    assertEquals(7, calls("add"));
    assertEquals(1, calls("cancel"));
    assertTrue(storeCalls("write", "success") > 0);
    meters.requireNoTag(NAME);
  }

  @Test
  void eachAddOfABatchIsCounted() {
    Counters counters = quipu.counters();
    List<Add> adds = List.of(add(1, ID), add(1, ID), add(-9, RequestId.of("2")));
    assertEquals(3, counters.addAll(adds).size());
    assertEquals(3, counters.addAll(adds, () -> true).size());
    assertEquals(3, counters.addAll(adds, () -> false).size());
    assertEquals(1, adds("applied"));
    assertEquals(3, adds("replayed"));
    assertEquals(2, adds("rejected_floor"));
    assertEquals(3, adds("not_applied"));
    assertEquals(3, calls("add_all"));
    assertEquals(0, calls("add"));
  }

  @Test
  void addsWithAttributesAreCounted() {
    Attributed attributed = quipu.counters().as(Attributed.class).orElseThrow();
    assertTrue(quipu.observed(() -> attributed.add(add(1, ID), Map.of("who", "me"))).isApplied());
    assertEquals(1, adds("applied"));
    assertTrue(quipu.counters().as(MarkerItem.class).isPresent());
  }

  @Test
  void otherCallsAreTimed() {
    Counters counters = quipu.counters();
    assertTrue(counters.read(NAME).isEmpty());
    assertEquals(1, counters.readAll(List.of(NAME)).size());
    assertTrue(counters.set(NAME, 3, OptionalLong.empty()).toString().contains("3"));
    assertEquals(1, counters.list("", "", 9).counters().size());
    assertTrue(counters.outcome(NAME, ID).toString().contains("NotSeen"));
    counters.delete(NAME);
    for (String each : List.of("read", "read_all", "set", "list", "outcome", "delete")) {
      assertEquals(1, calls(each), each);
    }
  }

  @Test
  void unknownOutcomesAndRetriesAreCounted() {
    failures.add(new OutcomeUnknownException(Reason.TIMEOUT, "lost", null));
    failures.add(new NotAppliedException(Reason.THROTTLED, "slow down"));
    failures.add(new NotAppliedException(Reason.UNAVAILABLE, "away"));
    assertTrue(quipu.counters().add(add(5, ID)).isApplied());
    assertEquals(3, meters.count("quipu.retries", "technique", "marker-item"));
    assertEquals(1, storeCalls("write", "unknown"));
    assertEquals(1, storeCalls("write", "throttled"));
    assertEquals(1, storeCalls("write", "not_applied"));

    for (int i = 0; i < 100; i++) {
      failures.add(new OutcomeUnknownException(Reason.CORRUPT, "lost", null));
    }
    Counters counters = quipu.counters();
    assertThrows(
        OutcomeUnknownException.class, () -> counters.add(add(1, RequestId.of("2"))).isApplied());
    assertEquals(1, adds("unknown"));
    assertThrows(
        IllegalArgumentException.class, () -> counters.add(new Add("", 1, null)).isApplied());
  }

  /** A server is not asked for its technique: it may be unreachable. */
  @Test
  void countersOfAServerAreMeasured() {
    Counters remote = quipu.counters();
    Quipu.Backend server =
        new Quipu.Backend() {
          @Override
          public Counters counters() {
            return remote;
          }

          @Override
          public <T> T part(Class<T> type) {
            throw new UnsupportedOperationException("no part");
          }

          @Override
          public boolean isRegional() {
            return false;
          }

          @Override
          public void close() {}
        };
    try (Quipu client = Quipu.on(server)) {
      new QuipuMetrics(client).bindTo(meters.registry);
      assertTrue(client.counters().add(add(5, ID)).isApplied());
    }
    String[] tags = {"store", "server", "technique", "server", "outcome", "applied"};
    assertEquals(1, meters.count("quipu.adds", tags));
  }

  @Test
  void tagsDistinguishStores() {
    assertEquals(0, meters.count("quipu.adds", "region", "eu", "outcome", "invalid"));
  }
}
