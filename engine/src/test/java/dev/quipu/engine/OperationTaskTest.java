package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Operations of one call: independent, in order, each within one frame. */
final class OperationTaskTest {
  private static final int CAPACITY = 4_096;
  private static final int MOST = CAPACITY - Frame.HEAD_BYTES - Frame.ALIGNMENT;

  private final State state = new State(7, 1_000, 1_000, 0);
  private final Group group = new Group(ByteBuffer.allocate(CAPACITY), new Followers());
  private final List<String> did = new ArrayList<>();
  private final RuntimeException injected = new IllegalStateException("injected");

  OperationTaskTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  /** Sets a counter to the number of its runs. */
  private final class Step implements Operation {
    private final String name;
    private final int bytesMax;
    private final int times;
    private final Consumer<CounterAccess> what;
    private int runs;
    private @Nullable RuntimeException failure;

    Step(String name, int bytesMax, int times, Consumer<CounterAccess> what) {
      this.name = name;
      this.bytesMax = bytesMax;
      this.times = times;
      this.what = what;
    }

    @Override
    public int bytesMax(CounterAccess access) {
      return bytesMax;
    }

    @Override
    public void on(CounterAccess access) {
      did.add(name);
      runs++;
      what.accept(access);
    }

    @Override
    public boolean isDone() {
      return runs == times;
    }

    @Override
    public void failed(RuntimeException why) {
      failure = why;
    }
  }

  private Step step(String name) {
    return new Step(name, 128, 1, access -> access.set(name, 1));
  }

  private Step failing(String name) {
    return new Step(
        name,
        128,
        1,
        access -> {
          throw injected;
        });
  }

  private boolean run(Operation... operations) {
    return new OperationTask(List.of(operations)).run(state, group);
  }

  @Test
  void operationsRunInOrderAndFailIndependently() {
    Step failing = failing("b");
    Step last = step("c");
    assertTrue(run(step("a"), failing, last));
    assertEquals(List.of("a", "b", "c"), did);
    assertSame(injected, failing.failure);
    assertNull(last.failure);
    assertEquals(2, group.commands());
  }

  @Test
  void anIncompleteOperationRunsAgainBeforeTheNext() {
    assertTrue(run(new Step("a", 128, 3, access -> access.set("a", 1)), step("b")));
    assertEquals(List.of("a", "a", "a", "b"), did);
  }

  @Test
  void anOperationThatDoesNotFitContinuesInTheNextFrame() {
    Step large = new Step("large", MOST, 1, access -> access.set("large", 1));
    OperationTask task = new OperationTask(List.of(step("a"), large, step("b")));
    assertFalse(task.run(state, group));
    assertEquals(List.of("a"), did);
    group.begin(null);
    assertTrue(task.run(state, group));
    assertEquals(List.of("a", "large", "b"), did);
    assertNull(large.failure);
  }

  @Test
  void anOperationThatNeverFitsFailsAndTheOthersContinue() {
    Step tooLarge = new Step("large", MOST + 1, 1, access -> access.set("large", 1));
    assertTrue(run(step("a"), tooLarge, step("b")));
    assertEquals(List.of("a", "b"), did);
    assertInstanceOf(IllegalArgumentException.class, tooLarge.failure);
  }

  @Test
  void anExceptionAfterAChangeIsRethrown() {
    Step halfDone =
        new Step(
            "b",
            128,
            1,
            access -> {
              access.set("b", 1);
              throw injected;
            });
    RuntimeException why =
        assertThrows(IllegalStateException.class, () -> run(step("a"), halfDone, step("c")));
    assertSame(injected, why);
    assertNull(halfDone.failure);
    assertEquals(List.of("a", "b"), did);
  }

  @Test
  void theOutcomeOfARequestIsReadOrCanceled() {
    RequestId id = RequestId.of("x");
    CounterOperation<RequestOutcome> asked = CounterOperation.outcome("abc", id);
    CounterOperation<RequestOutcome> sealed = CounterOperation.cancel("abc", id);
    CounterOperation<RequestOutcome> askedAgain = CounterOperation.outcome("abc", id);
    assertTrue(run(asked, sealed, askedAgain));
    assertInstanceOf(RequestOutcome.NotSeen.class, asked.result());
    assertInstanceOf(RequestOutcome.Canceled.class, sealed.result());
    assertInstanceOf(RequestOutcome.Canceled.class, askedAgain.result());
    assertEquals(1, group.commands());
  }

  @Test
  void aFailedOutcomeThrowsItsCause() {
    CounterOperation<RequestOutcome> operation = CounterOperation.cancel("abc", RequestId.of("x"));
    operation.failed(injected);
    assertSame(injected, assertThrows(IllegalStateException.class, operation::result));
  }

  /** Space is ensured before it runs: a full frame is ended first. */
  @Test
  void aCancellationWaitsForAFrameWithSpace() {
    int bytes = CounterAccess.bytesMax(1, 3);
    while (group.fits(bytes)) {
      group.cancel(0, 1, 1);
    }
    int before = group.commands();
    OperationTask task =
        new OperationTask(List.of(CounterOperation.cancel("abc", RequestId.of("x"))));
    assertFalse(task.run(state, group));
    assertEquals(before, group.commands());
    group.begin(null);
    assertTrue(task.run(state, group));
    assertEquals(1, group.commands());
  }
}
