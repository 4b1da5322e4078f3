package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.ItemResult;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine across restarts, snapshots and generations of request ids. */
final class EngineTest {
  private static final EngineOptions SMALL =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withIdsInMemoryMax(1_024);

  @TempDir Path directory;

  @Test
  void countsOverARestart() {
    try (Engine engine = Engine.open(directory, SMALL)) {
      assertEquals(applied(5, 5), engine.add(new Add("a", 5, RequestId.of("one"))));
      assertEquals(applied(2, 7), engine.add(new Add("a", 2, null)));
      assertEquals(replayed(5, 5), engine.add(new Add("a", 5, RequestId.of("one"))));
    }
    try (Engine engine = Engine.open(directory, SMALL)) {
      assertEquals(Optional.of(Reading.exact(7)), engine.read("a"));
      assertEquals(replayed(5, 5), engine.add(new Add("a", 5, RequestId.of("one"))));
      assertEquals(new AddResult.Conflict(5), engine.add(new Add("a", 6, RequestId.of("one"))));
      assertEquals(
          new AddResult.Conflict(5),
          engine.add(new Add("a", 5, Bounds.atLeast(0), RequestId.of("one"))));
    }
  }

  @Test
  void aSecondEngineIsRejectedWithTheProcessThatHoldsIt() {
    try (Engine engine = Engine.open(directory, SMALL)) {
      QuipuException e = assertThrows(QuipuException.class, () -> Engine.open(directory, SMALL));
      assertEquals(Reason.DENIED, e.reason());
      assertTrue(
          e.getMessage().contains("in use by process " + ProcessHandle.current().pid() + "."),
          e.getMessage());
      engine.add(new Add("a", 1, null));
    }
  }

  @Test
  void everyIdIsFoundInMemoryInFilesAndAfterRestarts() {
    int requests = 20_000; // 20 generations of 1,024 ids, several segments and snapshots
    for (int run = 0; run < 3; run++) {
      try (Engine engine = Engine.open(directory, SMALL)) {
        for (int i = 0; i < requests; i += 500) {
          List<Add> adds = new ArrayList<>();
          for (int j = i; j < i + 500; j++) {
            adds.add(new Add("counter-" + j % 7, 1 + j % 3, RequestId.of("request-" + j)));
          }
          for (ItemResult result : engine.addAll(adds)) {
            if (run == 0) {
              assertInstanceOf(AddResult.Applied.class, result);
            } else {
              assertInstanceOf(AddResult.Replayed.class, result);
            }
          }
          if (run == 0 && i % 5_000 == 0) {
            engine.checkpoint();
          }
        }
        long sum = 0;
        for (int i = 0; i < 7; i++) {
          sum += engine.read("counter-" + i).orElseThrow().value();
        }
        long expected = 0;
        for (int j = 0; j < requests; j++) {
          expected += 1 + j % 3;
        }
        assertEquals(expected, sum);
        assertTrue(engine.statistics().idFiles() > 5);
      }
    }
  }

  @Test
  void idsAreForgottenAfterTheWindowAndNotBefore() {
    ManualClock clock = new ManualClock(1_000_000);
    EngineOptions options = SMALL.withWindow(Duration.ofHours(1)).withClock(clock);
    Add add = new Add("a", 1, RequestId.of("one"));
    try (Engine engine = Engine.open(directory, options)) {
      assertEquals(applied(1, 1), engine.add(add));
      clock.advance(Duration.ofMinutes(59));
      assertEquals(replayed(1, 1), engine.add(add));
    }
    clock.advance(Duration.ofMinutes(1));
    try (Engine engine = Engine.open(directory, options)) {
      assertEquals(replayed(1, 1), engine.add(add));
      clock.jump(Duration.ofDays(2)); // a wall clock that jumps at run time forgets nothing
      assertEquals(replayed(1, 1), engine.add(add));
      clock.advance(Duration.ofMinutes(9));
      assertEquals(applied(1, 2), engine.add(add));
      engine.checkpoint();
    }
  }

  @Test
  void itemsAndViewsSurviveASnapshot() {
    try (Quipu quipu = Backends.on(Engine.open(directory, SMALL))) {
      for (int i = 0; i < 3_000; i++) {
        Instant time = Instant.ofEpochSecond(i);
        assertTrue(
            quipu.part(ViewCounter.class).add(new ViewEvent("/page" + i % 3, time, "client")));
      }
    }
    try (Engine engine = Engine.open(directory, SMALL)) {
      engine.checkpoint();
      assertEquals(3_003, engine.statistics().items());
    }
    try (Quipu quipu = Backends.on(Engine.open(directory, SMALL))) {
      assertEquals(OptionalLong.of(1_000), quipu.part(ViewCounter.class).count("/page1"));
      assertEquals(
          100,
          quipu
              .part(ViewCounter.class)
              .count("/page0", Optional.empty(), Optional.of(Instant.ofEpochSecond(300))));
      assertEquals(
          false,
          quipu
              .part(ViewCounter.class)
              .add(new ViewEvent("/page0", Instant.ofEpochSecond(0), "client")));
    }
  }

  private static AddResult applied(long added, long value) {
    return new AddResult.Applied(added, OptionalLong.of(value));
  }

  private static AddResult replayed(long added, long value) {
    return new AddResult.Replayed(added, OptionalLong.of(value));
  }

  /** The table of a generation is cleared concurrently with calls; a close waits for that. */
  @Test
  void aCloseCompletesWhileATableIsBeingCleared() {
    int ids = 1 << 19; // less log than triggers a snapshot on close
    EngineOptions options = EngineOptions.defaults().withIdsInMemoryMax(ids);
    for (int round = 0; round < 2; round++) {
      Path data = directory.resolve("round-" + round);
      assertTimeoutPreemptively(
          Progress.STALL_MAX,
          () -> {
            try (Engine engine = Engine.open(data, options)) {
              for (int from = 0; from <= ids; from += 8_192) {
                List<Add> adds = new ArrayList<>();
                for (int i = from; i < from + 8_192; i++) {
                  adds.add(new Add("a", 1, RequestId.of(1, i)));
                }
                engine.addAll(adds);
              }
              while (engine.statistics().idFiles() == 0) {
                Thread.onSpinWait(); // until the file has just replaced the table
              }
            }
          });
    }
  }
}
