package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.Threads;
import dev.quipu.simulation.time.ManualClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Expired and removed counters, their names and their request ids. */
final class ExpiryTest {
  private static final Duration WINDOW = Duration.ofHours(1);

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final EngineOptions options =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withWindow(WINDOW).withClock(clock);

  private void expireAll(Engine engine, int counters) {
    for (int i = 0; i < counters; i++) {
      String name = "c" + i;
      TestOperation.run(
          engine,
          access -> {
            access.set(name, 7);
            access.expire(name, access.nowMillis() + 1_000);
          });
    }
    clock.advance(Duration.ofSeconds(2));
  }

  /**
   * Regression: a checkpoint removed expired counters only in memory, and the log kept their old
   * expiry.
   */
  @Test
  void anAddAfterExpirySurvivesAnInterruptedCheckpoint() {
    int counters = 50;
    Disk disk =
        new ForwardingDisk(new FileDisk()) {
          @Override
          public void rename(Path from, Path to) throws IOException {
            if (to.toString().endsWith(".snap")) {
              throw new IOException("injected");
            }
            super.rename(from, to);
          }
        };
    try (Engine engine = Engine.open(directory, options, new Environment(disk, Threads.PLATFORM))) {
      expireAll(engine, counters);
      assertThrows(QuipuException.class, engine::checkpoint);
      engine.sweep();
      for (int i = 0; i < counters; i++) {
        engine.add(new Add("c" + i, 1, RequestId.of("r" + i)));
      }
    }
    try (Engine engine = Engine.open(directory, options)) {
      for (int i = 0; i < counters; i++) {
        assertEquals(1, engine.read("c" + i).orElseThrow().value());
      }
    }
  }

  @Test
  void cancelingARequestOfAnExpiredCounterDoesNotRestoreIt() {
    try (Engine engine = Engine.open(directory, options)) {
      expireAll(engine, 1);
      assertInstanceOf(RequestOutcome.Canceled.class, engine.cancel("c0", RequestId.of("late")));
      assertEquals(Optional.empty(), engine.read("c0"));
    }
    try (Engine engine = Engine.open(directory, options)) {
      assertEquals(Optional.empty(), engine.read("c0"));
      assertInstanceOf(RequestOutcome.Canceled.class, engine.outcome("c0", RequestId.of("late")));
    }
  }

  @Test
  void namesAndOrdinalsOfExpiredCountersAreReused() {
    try (Engine engine = Engine.open(directory, options)) {
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++) {
          String name = "round-" + round + "-" + i;
          TestOperation.run(
              engine,
              access -> {
                access.set(name, 1);
                access.expire(name, access.nowMillis() + 500);
              });
        }
        clock.advance(Duration.ofSeconds(1));
        engine.sweep();
        assertEquals(0, engine.statistics().counters());
        assertEquals(0, engine.statistics().tombstones());
      }
      int places = TestOperation.get(engine, CounterAccess::places);
      assertTrue(places <= 200, "places: " + places);
    }
    try (Engine engine = Engine.open(directory, options)) {
      TestOperation.run(engine, access -> access.set("new", 3));
      assertTrue(TestOperation.get(engine, CounterAccess::places) <= 200);
      assertEquals(List.of("new"), TestOperation.get(engine, access -> access.names("", "", 10)));
    }
  }

  /**
   * Otherwise a new counter would answer a new request with the replay of another counter's
   * request.
   */
  @Test
  void anOrdinalIsNotReusedWhileItsIdsAreRemembered() {
    RequestId id = RequestId.of("one");
    for (boolean restarts : new boolean[] {false, true}) {
      Path data = directory.resolve("restarts-" + restarts);
      Engine engine = Engine.open(data, options);
      try {
        engine.add(new Add("old", 5, id));
        TestOperation.run(engine, access -> access.remove("old"));
        engine.checkpoint();
        engine.sweep();
        if (restarts) {
          engine.close();
          engine = Engine.open(data, options);
        }
        assertEquals(1, engine.statistics().tombstones());
        AddResult result = engine.add(new Add("new", 7, id));
        assertEquals(new AddResult.Applied(7, java.util.OptionalLong.of(7)), result);
        assertInstanceOf(AddResult.Replayed.class, engine.add(new Add("old", 5, id)));
        clock.advance(WINDOW.multipliedBy(2));
        engine.add(new Add("other", 1, null));
        engine.checkpoint(); // drops the file of ids
        engine.sweep();
        assertEquals(0, engine.statistics().tombstones());
        assertInstanceOf(AddResult.Applied.class, engine.add(new Add("old", 5, id)));
      } finally {
        engine.close();
      }
    }
  }

  @Test
  void manyExpireInSecondsAndAreFreed() {
    int counters = 20_000;
    try (Engine engine = Engine.open(directory, options)) {
      for (int from = 0; from < counters; from += 500) {
        List<Operation> operations = new ArrayList<>();
        for (int i = from; i < from + 500; i++) {
          String name = "c" + i;
          operations.add(
              new Operation() {
                @Override
                public int bytesMax(CounterAccess access) {
                  return CounterAccess.bytesMax(2, name.length());
                }

                @Override
                public void on(CounterAccess access) {
                  access.set(name, 1);
                  access.expire(name, access.nowMillis() + 1);
                }

                @Override
                public void failed(RuntimeException why) {
                  throw new AssertionError(why);
                }
              });
        }
        engine.run(operations);
      }
      long before = engine.statistics().memoryBytes();
      clock.advance(Duration.ofSeconds(1));
      assertEquals(0, TestOperation.get(engine, CounterAccess::size));
      engine.sweep();
      assertEquals(0, engine.statistics().counters());
      long after = engine.statistics().memoryBytes();
      assertTrue(after < before * 5 / 6, after + " of " + before + ": other counters use the rest");
    }
  }
}
