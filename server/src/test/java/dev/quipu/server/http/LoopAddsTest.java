package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.MemoryBudget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What waits when the loop is done with its input is one group. */
final class LoopAddsTest {
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<Integer> groups = new ArrayList<>();
  private final List<Throwable> errors = new ArrayList<>();
  private final List<ItemResult> results = new ArrayList<>();

  private LoopAdds adds(Function<List<Add>, List<ItemResult>> engine) {
    HostProcess host =
        new HostProcess(MemoryBudget.ofHeap(), errors::add, Optional::empty, Map.of(), List.of());
    return new LoopAdds(
        tasks::add,
        group -> {
          groups.add(group.size());
          return engine.apply(group);
        },
        host);
  }

  private void runAll() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private static Add add(int delta) {
    return new Add("likes", delta, null);
  }

  private static List<ItemResult> applied(List<Add> group) {
    return group.stream()
        .<ItemResult>map(
            add -> new AddResult.Applied(add.delta(), OptionalLong.of(10 * add.delta()), 0))
        .toList();
  }

  @Test
  void eachGetsItsOwnResultOfOneGroup() {
    LoopAdds adds = adds(LoopAddsTest::applied);
    adds.add(add(1), results::add);
    adds.add(add(2), results::add);
    assertEquals(1, tasks.size());
    runAll();
    assertEquals(List.of(2), groups);
    assertEquals(10, results.get(0).result().orElseThrow().value());
    assertEquals(20, results.get(1).result().orElseThrow().value());
  }

  @Test
  void anAddThatARepliedClientSendsIsInTheNextGroup() {
    LoopAdds adds = adds(LoopAddsTest::applied);
    adds.add(add(1), result -> adds.add(add(3), results::add));
    adds.add(add(2), results::add);
    runAll();
    assertEquals(List.of(2, 1), groups);
    assertEquals(30, results.get(1).result().orElseThrow().value());
  }

  @Test
  void aGroupIsNotLargerThanTheEngineTakes() {
    LoopAdds adds = adds(LoopAddsTest::applied);
    for (int i = 0; i < Limits.BULK_ADDS_MAX + 1; i++) {
      adds.add(add(1), results::add);
    }
    runAll();
    assertEquals(List.of(Limits.BULK_ADDS_MAX, 1), groups);
    assertEquals(Limits.BULK_ADDS_MAX + 1, results.size());
  }

  @Test
  void aFailureOfOneClientDoesNotAffectOthers() {
    LoopAdds adds = adds(LoopAddsTest::applied);
    adds.add(
        add(1),
        result -> {
          throw new IllegalStateException("planted");
        });
    OutOfMemoryError error = new OutOfMemoryError("planted");
    adds.add(
        add(2),
        result -> {
          throw error;
        });
    adds.add(add(3), results::add);
    runAll();
    assertEquals(30, results.getFirst().result().orElseThrow().value());
    assertEquals(List.of(error), errors);
  }

  @Test
  void afterAFailureOfTheEngineAllGetAResult() {
    RuntimeException failure = new IllegalStateException("planted");
    LoopAdds adds =
        adds(group -> {
          throw failure;
        });
    adds.add(add(1), results::add);
    adds.add(add(2), results::add);
    runAll();
    assertEquals(2, results.size());
    assertSame(failure, assertThrows(RuntimeException.class, () -> results.get(1).result()));
  }

  @Test
  void afterAnErrorTheOutcomeIsUnknown() {
    OutOfMemoryError error = new OutOfMemoryError("planted");
    LoopAdds adds =
        adds(group -> {
          throw error;
        });
    adds.add(add(1), results::add);
    runAll();
    assertEquals(List.of(error), errors);
    assertThrows(OutcomeUnknownException.class, () -> results.getFirst().result());
  }
}
