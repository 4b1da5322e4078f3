package dev.quipu.server.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Reading;
import dev.quipu.engine.CounterTurn;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.Operation;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
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

/** Commands in one commit, and what becomes of them when it fails. */
final class BatchTest {
  @TempDir Path directory;

  /** Adds 1, and says so. */
  private record Counting(String counter) implements Step {
    @Override
    public int bytesMax(CounterTurn turn) {
      return CounterTurn.bytesMax(1, counter.length());
    }

    @Override
    public void run(CounterTurn turn, ByteBuf out) {
      turn.set(counter, turn.get(counter).orElse(0) + 1);
      out.writeCharSequence("counted ", StandardCharsets.US_ASCII);
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      out.writeCharSequence("unknown ", StandardCharsets.US_ASCII);
    }
  }

  private static String told(Batch batch) {
    return batch.answers().toString(StandardCharsets.US_ASCII);
  }

  @Test
  void whatIsDoneAfterItsDeadlineDoesNotChangeWhatWasTold() {
    Batch batch = new Batch(2, 16);
    batch.add(new Counting("a"));
    batch.add(new Counting("a"));
    batch.failed(StoreException.unknown(Reason.TIMEOUT, "no answer from the disk", null));
    assertEquals("unknown unknown ", told(batch));
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      engine.run(List.of(batch)); // late, by another thread
      assertEquals(Optional.of(Reading.exact(2)), engine.read("a"));
    }
    assertTrue(batch.hasFailed());
    assertEquals("unknown unknown ", told(batch));
  }

  @Test
  void aBatchLargerThanACommitIsDoneInSeveral() {
    Batch batch = new Batch(1, 16);
    int commands = 200_000;
    for (int i = 0; i < commands; i++) {
      batch.add(new Counting("counter-" + i));
    }
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      engine.run(List.of(batch));
      assertEquals(commands, engine.statistics().counters());
      assertTrue(engine.statistics().frames() > 1);
    }
    assertEquals("counted ".repeat(commands), told(batch));
  }

  /** A commit that nobody waits for any more is done from what it was given, and nothing else. */
  @Test
  void aLateCommitDoesNotDoWhatCameSince() {
    Deque<Runnable> loop = new ArrayDeque<>();
    List<List<Operation>> given = new ArrayList<>();
    LoopCommits commits =
        new LoopCommits(
            loop::add,
            operations -> {
              given.add(operations);
              if (given.size() == 1) {
                throw StoreException.unknown(Reason.TIMEOUT, "no answer from the disk", null);
              }
            });
    for (int i = 0; i < 4; i++) {
      Batch batch = new Batch(1, 16);
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
}
