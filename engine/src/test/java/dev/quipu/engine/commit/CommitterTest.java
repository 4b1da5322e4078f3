package dev.quipu.engine.commit;

import static dev.quipu.engine.commit.CommitterSetup.set;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.commit.CommitterSetup.Caller;
import dev.quipu.engine.commit.CommitterSetup.Gate;
import dev.quipu.engine.commit.CommitterSetup.Step;
import dev.quipu.engine.commit.CommitterSetup.Work;
import dev.quipu.engine.log.HighWater;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Leaders, waiters, and what each caller finally gets. */
final class CommitterTest {
  private static final int GROUPS_OF_A_LEADER = 8;
  private static final int TASKS_OF_A_FRAME = 16_384;
  private static final Work READ = (state, group) -> true;

  @TempDir Path directory;
  private CommitterSetup setup;
  private Committer committer;

  @BeforeEach
  void open() throws IOException {
    setup = new CommitterSetup(directory);
    committer = setup.committer;
  }

  @AfterEach
  void close() throws IOException {
    setup.onLogSync = () -> {};
    setup.close();
  }

  private static void assertEnd(Outcome outcome, Reason reason, @Nullable RuntimeException why) {
    QuipuException known = assertInstanceOf(QuipuException.class, why);
    assertEquals(outcome, known.outcome(), known.getMessage());
    assertEquals(reason, known.reason(), known.getMessage());
  }

  private static void assertUnknown(@Nullable RuntimeException why) {
    assertEnd(Outcome.UNKNOWN, Reason.UNAVAILABLE, why);
  }

  private static void assertNotApplied(@Nullable RuntimeException why) {
    assertEnd(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, why);
  }

  @Test
  void aSingleCallLeadsItself() {
    Step step = setup.run(set("a", 1));
    assertSame(Thread.currentThread(), step.leader);
    assertTrue(step.isDone());
    assertEquals(1, step.runs.get());
  }

  @Test
  void callsThatArriveMeanwhileAreTheNextGroupOfTheLeader() {
    Gate gate = new Gate();
    AtomicBoolean came = new AtomicBoolean();
    List<Caller> others = new ArrayList<>();
    setup.onLogSync =
        () -> {
          if (came.compareAndSet(false, true)) {
            others.add(setup.call(set("b", 1)).awaitParked());
            others.add(setup.call(set("c", 1)).awaitParked());
          }
        };
    Caller leader = setup.lead(gate, set("a", 1));
    gate.open();
    assertNull(leader.endInTime());
    for (Caller other : others) {
      assertNull(other.endInTime());
      assertSame(leader.thread, other.step().leader);
    }
    assertEquals(2, committer.frames());
  }

  /**
   * Leads the maximum number of groups of a leader; one more call arrives with the last of them.
   */
  private Caller leadWith(Supplier<Caller> last) {
    List<Caller> callers = new ArrayList<>();
    setup.onLogSync =
        () -> {
          if (callers.size() < GROUPS_OF_A_LEADER - 1) {
            callers.add(setup.call(set("b", callers.size())).awaitParked());
          } else if (callers.size() == GROUPS_OF_A_LEADER - 1) {
            callers.add(last.get());
          }
        };
    setup.run(set("a", 1));
    for (Caller caller : callers.subList(0, GROUPS_OF_A_LEADER - 1)) {
      assertNull(caller.endInTime());
      assertSame(Thread.currentThread(), caller.step().leader);
    }
    assertEquals(GROUPS_OF_A_LEADER, callers.size());
    return callers.getLast();
  }

  @Test
  void aLeaderHandsOverToTheNextCallerAfterEightGroups() {
    Caller next = leadWith(() -> setup.call(set("c", 1)).awaitParked());
    assertNull(next.endInTime());
    assertSame(next.thread, next.step().leader);
  }

  @Test
  void aLeaderLeadsOnIfTheNextCallerHasGivenUp() {
    Caller next =
        leadWith(() -> {
          Caller caller = setup.call(set("c", 1)).awaitParked();
          caller.thread.interrupt();
          assertUnknown(caller.end());
          return caller;
        });
    assertTrue(next.step().isDone());
    assertSame(Thread.currentThread(), next.step().leader);
  }

  @Test
  void aCallerThatGivesUpWhileNobodyLeadsLeads() {
    Caller next = leadWith(() -> setup.callThatNobodyWakes(set("c", 1)).awaitParked());
    assertFalse(next.step().isDone());
    next.thread.interrupt();
    assertNull(next.end());
    assertSame(next.thread, next.step().leader);
    assertTrue(next.keptInterrupt());
  }

  @Test
  void aStopEndsACallThatNobodyWoke() {
    Caller stopped = leadWith(() -> setup.callThatNobodyWakes(set("c", 1)).awaitParked());
    setup.failure.stop(new AssertionError("injected"));
    assertTrue(stopped.step().isDone());
    LockSupport.unpark(stopped.thread);
    assertNotApplied(stopped.endInTime());
    assertEquals(0, stopped.step().runs.get());
  }

  @Test
  void aCloseServesACallThatNobodyWoke() {
    Caller served = leadWith(() -> setup.callThatNobodyWakes(set("c", 1)).awaitParked());
    committer.close();
    assertTrue(served.step().isDone());
    LockSupport.unpark(served.thread);
    assertNull(served.endInTime());
    assertSame(Thread.currentThread(), served.step().leader);
  }

  @Test
  void aFrameTakesALimitedNumberOfTasks() throws InterruptedException {
    Gate gate = new Gate();
    Caller leader = setup.lead(gate, set("a", 1));
    Map<Long, Integer> tasks = new ConcurrentHashMap<>();
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < TASKS_OF_A_FRAME; i++) {
      callers.add(
          Thread.startVirtualThread(
              () -> setup.run((state, group) -> tasks.merge(state.frame, 1, Integer::sum) > 0)));
    }
    for (Thread caller : callers) {
      while (LockSupport.getBlocker(caller) != committer) {
        assertTrue(caller.isAlive(), "the call does not wait");
        Thread.onSpinWait();
      }
    }
    gate.open();
    assertNull(leader.endInTime());
    for (Thread caller : callers) {
      caller.join();
    }
    assertEquals(Map.of(1L, TASKS_OF_A_FRAME - 1, 2L, 1), tasks);
  }

  @Test
  void aCallEndsAtItsDeadlineButIsStillApplied() throws IOException {
    setup.close();
    setup =
        new CommitterSetup(
            directory.resolve("other"),
            new HighWater.Mark(0, 0, 0, CommitterSetup.NOW),
            options -> options.withCallDeadline(Duration.ofMillis(1)));
    Gate gate = new Gate();
    Caller leader = setup.lead(gate, set("a", 1));
    Caller late = setup.call(set("b", 1));
    RuntimeException why = late.end();
    assertEnd(Outcome.UNKNOWN, Reason.TIMEOUT, why);
    assertEquals("no reply from the disk within 1ms", why == null ? "" : why.getMessage());
    assertFalse(late.step().isDone());
    gate.open();
    assertNull(leader.end());
    assertTrue(late.step().isDone());
    assertSame(leader.thread, late.step().leader);
  }

  @Test
  void anInterruptEndsTheWaitAndIsKept() {
    Gate gate = new Gate();
    Caller leader = setup.lead(gate, set("a", 1));
    Caller waiting = setup.call(set("b", 1)).awaitParked();
    waiting.thread.interrupt();
    RuntimeException why = waiting.end();
    assertUnknown(why);
    assertEquals("interrupted while waiting", why == null ? "" : why.getMessage());
    assertTrue(waiting.keptInterrupt());
    gate.open();
    assertNull(leader.endInTime());
    assertFalse(leader.keptInterrupt());
  }

  @Test
  void anInterruptOfALeaderWaitsUntilTheGroupIsComplete() {
    List<Boolean> seen = new ArrayList<>();
    Thread.currentThread().interrupt();
    setup.run((state, group) -> seen.add(Thread.currentThread().isInterrupted()));
    assertTrue(Thread.interrupted());
    assertEquals(List.of(false), seen);
    setup.run(READ);
    assertFalse(Thread.interrupted());
  }

  @Test
  void anExceptionBeforeAChangeFailsOnlyItsTask() {
    Gate gate = new Gate();
    RuntimeException injected = new IllegalStateException("injected");
    Caller leader = setup.lead(gate, set("a", 1));
    Caller failing =
        setup.call((state, group) -> {
          throw injected;
        });
    failing.awaitParked();
    Caller other = setup.call(set("b", 1)).awaitParked();
    gate.open();
    assertNull(leader.endInTime());
    assertSame(injected, failing.endInTime());
    assertNull(other.endInTime());
    assertFalse(setup.failure.hasEnded());
  }

  /** Its earlier change is in a separate frame, and on disk. */
  @Test
  void aTaskMayFailInALaterFrameThanItChanged() {
    RuntimeException injected = new IllegalStateException("injected");
    List<Long> frames = new ArrayList<>();
    Work work =
        (state, group) -> {
          frames.add(state.frame);
          if (frames.size() == 2) {
            throw injected;
          }
          TestOperation.access(state, group).set("a", 1);
          return false;
        };
    assertSame(injected, assertThrows(IllegalStateException.class, () -> setup.run(work)));
    assertEquals(List.of(1L, 2L), frames);
    assertEquals(1, committer.durableFrame());
    assertFalse(setup.failure.hasEnded());
  }

  @Test
  void anErrorMakesItsGroupUnknownAndEndsTheRest() {
    Gate gate = new Gate();
    AssertionError injected = new AssertionError("injected");
    Step before = setup.run(set("z", 1));
    Caller leader = setup.lead(gate, set("a", 1));
    Caller ready = setup.call(set("b", 1)).awaitParked();
    Caller failing =
        setup.call((state, group) -> {
          throw injected;
        });
    failing.awaitParked();
    Caller later = setup.call(set("b", 1)).awaitParked();
    gate.open();
    assertUnknown(leader.endInTime());
    assertUnknown(ready.endInTime());
    assertUnknown(failing.endInTime());
    assertNotApplied(later.endInTime());
    assertEquals(0, later.step().runs.get());
    assertSame(injected, setup.failure.cause().orElseThrow());
    assertDoesNotThrow(before::rethrow, "it was acknowledged");
  }

  @Test
  void aLeaderWhoseOwnGroupIsCompleteIsUnaffectedByALaterFailure() {
    AtomicBoolean came = new AtomicBoolean();
    List<Caller> later = new ArrayList<>();
    Work failing =
        (state, group) -> {
          throw new AssertionError("injected");
        };
    setup.onLogSync =
        () -> {
          if (came.compareAndSet(false, true)) {
            later.add(setup.call(failing).awaitParked());
          }
        };
    setup.run(set("a", 1));
    assertUnknown(later.getFirst().endInTime());
    assertTrue(setup.failure.hasEnded());
    assertEquals(1, committer.durableFrame());
  }

  @Test
  void anExceptionAfterAChangeStopsTheEngine() {
    RuntimeException injected = new IllegalStateException("injected");
    Work work =
        (state, group) -> {
          TestOperation.access(state, group).set("a", 1);
          throw injected;
        };
    assertUnknown(assertThrows(QuipuException.class, () -> setup.run(work)));
    assertSame(injected, setup.failure.cause().orElseThrow());
    assertEquals(0, committer.frames());
  }

  @Test
  void anIncompleteChangeStopsTheEngine() {
    Work work =
        (state, group) -> {
          state.beginChange();
          return true;
        };
    assertUnknown(assertThrows(QuipuException.class, () -> setup.run(work)));
    assertEquals("a change was not completed", setup.failure.cause().orElseThrow().getMessage());
  }

  @Test
  void nothingIsBegunAfterAStop() {
    Gate gate = new Gate();
    Caller leader =
        setup.lead(
            gate,
            (state, group) -> {
              setup.failure.stop(new AssertionError("injected"));
              return true;
            });
    Caller other = setup.call(set("b", 1)).awaitParked();
    gate.open();
    assertUnknown(leader.endInTime());
    assertNotApplied(other.endInTime());
    assertEquals(0, other.step().runs.get());
    for (int i = 0; i < 3; i++) {
      Step step = new Step(READ);
      assertNotApplied(assertThrows(QuipuException.class, () -> committer.run(step)));
      assertEquals(0, step.runs.get());
      assertFalse(step.isAbandoned());
    }
  }

  @Test
  void aTaskThatNeedsAnotherFrameGetsNoneAfterAStop() {
    Step step =
        new Step((state, group) -> {
          setup.failure.stop(new AssertionError("injected"));
          return false;
        });
    assertUnknown(assertThrows(QuipuException.class, () -> committer.run(step)));
    assertEquals(1, step.runs.get());
  }

  /** The leader itself ends waiting calls: it owns the state while it leads. */
  @Test
  void aConcurrentStopTakesNothingFromTheLeader() {
    Gate gate = new Gate();
    Caller leader = setup.lead(gate, set("a", 1));
    Caller other = setup.call(set("b", 1)).awaitParked();
    setup.failure.stop(new AssertionError("injected"));
    assertFalse(leader.step().isDone());
    assertFalse(other.step().isDone());
    gate.open();
    assertUnknown(leader.endInTime());
    assertNotApplied(other.endInTime());
  }

  @Test
  void nothingIsAcknowledgedIfTheEngineStopsWhileItSyncs() {
    setup.onLogSync = () -> setup.failure.stop(new AssertionError("injected"));
    assertUnknown(assertThrows(QuipuException.class, () -> setup.run(set("a", 1))));
  }

  @Test
  void nothingIsAcknowledgedIfASyncFails() throws IOException {
    IOException injected = new IOException("injected");
    setup.onLogSync =
        () -> {
          throw injected;
        };
    assertUnknown(assertThrows(QuipuException.class, () -> setup.run(set("a", 1))));
    assertSame(injected, setup.failure.cause().orElseThrow());
    assertEquals(0, committer.durableFrame());
    assertEquals(0, HighWater.read(setup.disk, directory, CommitterSetup.IDENTITY).frame());
  }

  @Test
  void aThrowingListenerLeavesNoCallerWaiting() {
    setup.failure.onStop(why -> {
      throw new IllegalStateException("in the listener", why);
    });
    Work work =
        (state, group) -> {
          throw new AssertionError("injected");
        };
    assertUnknown(assertThrows(QuipuException.class, () -> setup.run(work)));
    assertNotApplied(assertThrows(QuipuException.class, () -> setup.run(READ)));
  }

  @Test
  void aCloseWaitsForTheLeaderAndRejectsLaterCalls() throws InterruptedException {
    Gate gate = new Gate();
    List<Boolean> ended = new ArrayList<>();
    Caller leader = setup.lead(gate, (state, group) -> ended.add(setup.failure.hasEnded()));
    Caller other = setup.call(set("b", 1)).awaitParked();
    Thread closer = Thread.ofPlatform().start(committer::close);
    while (closer.isAlive() && !isYielding(closer)) {
      Thread.onSpinWait();
    }
    assertFalse(other.step().isDone());
    gate.open();
    closer.join();
    assertNull(leader.endInTime());
    assertNull(other.endInTime());
    assertEquals(List.of(false), ended);
    Step late = new Step(READ);
    QuipuException why = assertThrows(QuipuException.class, () -> committer.run(late));
    assertNotApplied(why);
    assertEquals("the engine is closed", why.getMessage());
    assertFalse(late.isAbandoned());
    assertTrue(setup.failure.cause().isEmpty());
  }

  private static boolean isYielding(Thread thread) {
    for (StackTraceElement each : thread.getStackTrace()) {
      if (each.getMethodName().startsWith("yield")) {
        return true;
      }
    }
    return false;
  }
}
