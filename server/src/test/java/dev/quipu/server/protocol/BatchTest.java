package dev.quipu.server.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.Operation;
import dev.quipu.server.net.MemoryBudget;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands of one commit, and their outcome when it fails. */
final class BatchTest {
  @TempDir Path directory;

  /** Adds 1 and replies. */
  private record Counting(String counter) implements PendingCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return CounterAccess.bytesMax(1, counter.length());
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      counters.set(counter, counters.get(counter).orElse(0) + 1);
      out.writeCharSequence("counted ", StandardCharsets.US_ASCII);
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      out.writeCharSequence("unknown ", StandardCharsets.US_ASCII);
    }
  }

  private static Batch batch(int commands) {
    return new Batch(commands, 16, memory(1 << 20));
  }

  private static ConnectionMemory memory(long bytes) {
    return new ConnectionMemory(new MemoryBudget(bytes), bytes);
  }

  /** Replies with this many bytes. */
  private record Telling(int bytes) implements PendingCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return 0;
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      out.writeZero(bytes);
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      out.writeCharSequence("unknown ", StandardCharsets.US_ASCII);
    }
  }

  private static String answers(Batch batch) {
    return batch.answers().toString(StandardCharsets.US_ASCII);
  }

  @Test
  void aLateCommitDoesNotChangeTheAnswers() {
    Batch batch = batch(2);
    batch.add(new Counting("a"));
    batch.add(new Counting("a"));
    batch.failed(new OutcomeUnknownException(Reason.TIMEOUT, "no reply from the disk", null));
    assertEquals("unknown unknown ", answers(batch));
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      engine.run(List.of(batch)); // late, by another thread
      assertEquals(Optional.of(Reading.exact(2)), engine.read("a"));
    }
    assertTrue(batch.hasFailed());
    assertEquals("unknown unknown ", answers(batch));
  }

  @Test
  void aBatchLargerThanACommitIsSplit() {
    Batch batch = batch(1);
    int commands = 200_000;
    for (int i = 0; i < commands; i++) {
      batch.add(new Counting("counter-" + i));
    }
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      StringBuilder all = new StringBuilder();
      do {
        if (batch.isPaused()) {
          batch.resume();
        }
        engine.run(List.of(batch));
        all.append(answers(batch));
      } while (batch.isPaused());
      assertEquals("counted ".repeat(commands), all.toString());
      assertEquals(commands, engine.statistics().counters());
      assertTrue(engine.statistics().frames() > 1);
    }
  }

  /** A commit that has timed out runs its own operations only. */
  @Test
  void aLateCommitDoesNotRunLaterBatches() {
    Deque<Runnable> loop = new ArrayDeque<>();
    List<List<? extends Operation>> given = new ArrayList<>();
    LoopCommits commits =
        new LoopCommits(
            loop::add,
            loop::add,
            operations -> {
              given.add(operations);
              if (given.size() == 1) {
                throw new OutcomeUnknownException(Reason.TIMEOUT, "no reply from the disk", null);
              }
            },
            error -> {});
    for (int i = 0; i < 4; i++) {
      Batch batch = batch(1);
      batch.add(new Counting("counter-" + i));
      commits.add(batch, () -> {});
      loop.remove().run();
    }
    assertEquals(4, given.size());
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      engine.run(given.getFirst()); // late, by another thread
      assertEquals(Optional.of(Reading.exact(1)), engine.read("counter-0"));
      assertEquals(1, engine.statistics().counters());
    }
  }

  /** The unread replies of a connection stay within its limit. */
  @Test
  void aBatchPausesUntilItsAnswersAreRead() {
    Batch batch = new Batch(1, 16, memory(16 << 20));
    for (int i = 0; i < 10; i++) {
      batch.add(new Telling(100_000));
    }
    int commits = 0;
    int bytes = 0;
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      do {
        if (batch.isPaused()) {
          batch.resume();
        }
        engine.run(List.of(batch));
        assertTrue(batch.answers().readableBytes() <= Batch.ANSWER_BYTES_MAX + 100_000);
        bytes += batch.answers().readableBytes();
        commits++;
      } while (batch.isPaused());
    }
    assertEquals(1_000_000, bytes);
    assertEquals(4, commits);
  }

  /** Over the budget, each commit still runs at least one command. */
  @Test
  void aBatchOverTheBudgetContinuesCommandByCommand() {
    Batch batch = new Batch(1, 16, memory(0));
    for (int i = 0; i < 3; i++) {
      batch.add(new Telling(10_000));
    }
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      engine.run(List.of(batch));
      assertTrue(batch.isPaused());
      assertEquals(10_000, batch.answers().readableBytes());
      batch.resume();
      assertEquals(0, batch.answers().readableBytes());
      batch.failed(new OutcomeUnknownException(Reason.UNAVAILABLE, "stopped", null));
      assertEquals("unknown unknown ", answers(batch), "the first was answered");
    }
  }

  /** A command that changes nothing. */
  private interface Unlogged extends PendingCommand {
    @Override
    default int bytesMax(CounterAccess counters) {
      return 0;
    }

    @Override
    default void failed(RuntimeException why, ByteBuf out) {}
  }

  /** Collects a reply in the memory of a connection, then writes it. */
  private record Collecting(ConnectionMemory memory, int bytes) implements Unlogged {
    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      assertEquals(ConnectionMemory.Room.TAKEN, memory.collect(bytes));
      out.writeZero(bytes).writeCharSequence("\r\n".repeat(4_000), StandardCharsets.US_ASCII);
    }
  }

  /** Many connections whose clients read nothing must not share the same bytes of the budget. */
  @Test
  void unreadRepliesOfManyConnectionsStayWithinTheBudget() {
    int reply = 400 << 10;
    MemoryBudget budget = new MemoryBudget(2 << 20);
    List<Batch> batches = new ArrayList<>();
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      while (budget.limitBytes() - budget.usedBytes() >= reply) {
        ConnectionMemory memory = new ConnectionMemory(budget, 16 << 20);
        Batch batch = new Batch(1, 16, memory);
        batch.add(new Collecting(memory, reply));
        // The collected reply is the last that fits.
        long others = budget.limitBytes() - budget.usedBytes() - reply;
        assertTrue(batches.size() < 4 || budget.tryReserve(others));
        engine.run(List.of(batch));
        batches.add(batch);
        assertTrue(batches.size() < 10, "each connection gets the memory of the one before");
      }
    }
    assertEquals(5, batches.size());
    batches.forEach(each -> assertTrue(each.heldBytes() >= reply, () -> "" + each.heldBytes()));
  }

  /** Collects a large reply and then replies with an error, as when there is no memory for it. */
  private record Rejecting() implements Unlogged {
    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      int before = out.writerIndex();
      out.writeZero(60_000).writerIndex(before);
      out.writeCharSequence("out of memory ", StandardCharsets.US_ASCII);
    }
  }

  /** Only the bytes of replies are reserved, so a group must not hold larger buffers. */
  @Test
  void aRejectedReplyLeavesNoLargeBuffer() {
    Batch batch = batch(2);
    batch.add(new Counting("a"));
    batch.add(new Rejecting());
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      engine.run(List.of(batch));
    }
    assertEquals("counted out of memory ", answers(batch));
    assertTrue(batch.answers().capacity() < 100, () -> "" + batch.answers().capacity());
  }

  private static void runAll(Deque<Runnable> loop) {
    while (!loop.isEmpty()) {
      loop.remove().run();
    }
  }

  @Test
  void aFailingCallbackDoesNotAffectOthers() {
    Deque<Runnable> loop = new ArrayDeque<>();
    List<String> ran = new ArrayList<>();
    LoopCommits commits =
        new LoopCommits(loop::add, loop::add, operations -> {}, error -> ran.add("stop"));
    commits.add(batch(1), () -> ran.add("a"));
    commits.add(
        batch(1),
        () -> {
          throw new IllegalStateException("a callback");
        });
    commits.add(batch(1), () -> ran.add("b"));
    runAll(loop);
    assertEquals(List.of("a", "b"), ran);
    for (int i = 0; i < 3; i++) { // no operation of that commit runs again
      int round = i;
      commits.add(batch(1), () -> ran.add("round " + round));
      runAll(loop);
    }
    assertEquals(List.of("a", "b", "round 0", "round 1", "round 2"), ran);
  }

  /** A pipelining client does not keep the loop from reading other connections. */
  @Test
  void pipelinedCommandsRunAfterTheLoopHasReadOtherConnections() {
    Deque<Runnable> loop = new ArrayDeque<>();
    Deque<Runnable> later = new ArrayDeque<>();
    List<String> ran = new ArrayList<>();
    LoopCommits commits =
        new LoopCommits(loop::add, later::add, operations -> {}, error -> ran.add("stop"));
    commits.add(
        batch(1),
        () -> {
          ran.add("first");
          commits.add(batch(1), () -> ran.add("second"));
        });
    runAll(loop);
    assertEquals(List.of("first"), ran);
    commits.add(batch(1), () -> ran.add("of another")); // read meanwhile: same group
    loop.addAll(later);
    runAll(loop);
    assertEquals(List.of("first", "second", "of another"), ran);
  }

  /** Visits more names than a group may. */
  private record Looking() implements Unlogged {
    @Override
    public void run(CounterAccess counters, ByteBuf out) {
      counters.visit(50_001);
    }
  }

  @Test
  void aCommandThatVisitsManyNamesMakesItsBatchHeavy() {
    Batch batch = batch(1);
    batch.add(new Looking());
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      engine.run(List.of(batch));
    }
    assertTrue(batch.isDone() && !batch.isPaused() && batch.isHeavy());
  }

  /** Batches of disconnected clients neither delay others nor run later. */
  @Test
  void aWaitingBatchOfADisconnectedClientIsDropped() {
    Deque<Runnable> loop = new ArrayDeque<>();
    List<Operation> done = new ArrayList<>();
    LoopCommits commits =
        new LoopCommits(loop::add, loop::add, done::addAll, error -> done.clear());
    List<Batch> heavy = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      heavy.add(batch(1));
      heavy.getLast().expectHeavy();
      commits.add(heavy.getLast(), () -> {});
    }
    loop.remove().run();
    assertEquals(heavy.subList(0, 2), done, "these were in the first group");
    heavy.subList(0, 18).forEach(Batch::abandon);
    loop.remove().run();
    assertEquals(4, done.size());
    assertEquals(heavy.subList(18, 20), done.subList(2, 4));
    runAll(loop);
    assertEquals(4, done.size());
  }

  @Test
  void anErrorInACallbackStopsTheEngineBeforeAnythingElseIsAnswered() {
    Deque<Runnable> loop = new ArrayDeque<>();
    List<String> ran = new ArrayList<>();
    LoopCommits commits =
        new LoopCommits(loop::add, loop::add, operations -> {}, error -> ran.add("stop"));
    Batch after = batch(1);
    after.add(new Counting("a"));
    commits.add(
        batch(1),
        () -> {
          throw new StackOverflowError();
        });
    commits.add(after, () -> ran.add(answers(after)));
    runAll(loop);
    assertEquals(List.of("stop", "unknown "), ran);
  }

  @Test
  void anErrorInACommitLeavesEveryBatchUnknown() {
    Deque<Runnable> loop = new ArrayDeque<>();
    List<String> ran = new ArrayList<>();
    LoopCommits commits =
        new LoopCommits(
            loop::add,
            loop::add,
            operations -> {
              throw new OutOfMemoryError("planted");
            },
            error -> ran.add("stop"));
    for (int i = 0; i < 2; i++) {
      Batch batch = batch(1);
      batch.add(new Counting("a"));
      commits.add(batch, () -> ran.add(answers(batch)));
    }
    runAll(loop);
    assertEquals(List.of("stop", "unknown ", "unknown "), ran);
  }

  /** A command that cannot even fail. */
  private static final class Broken implements PendingCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return 0;
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {}

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      throw new IllegalStateException("broken");
    }
  }

  /** Its connection ends after the replies before it, and others of the commit get theirs. */
  @Test
  void aBatchFailsEvenIfACommandOfItCannot() {
    Batch batch = batch(3);
    batch.add(new Counting("a"));
    batch.add(new Broken());
    batch.add(new Counting("b"));
    batch.failed(new NotAppliedException(Reason.FULL, "no memory"));
    assertTrue(batch.hasFailed());
    assertTrue(batch.isUnknown(), "for the others");
    assertEquals("unknown ", batch.answers().toString(StandardCharsets.US_ASCII));
  }
}
