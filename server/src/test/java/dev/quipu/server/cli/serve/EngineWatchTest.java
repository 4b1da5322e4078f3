package dev.quipu.server.cli.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.Operation;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.testkit.pace.Progress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EngineWatchTest {
  @TempDir Path directory;

  /** Holds up all calls of an engine, as a disk does that does not answer. */
  private record Blocking(CountDownLatch isBlocking, CountDownLatch end) implements Operation {
    @Override
    public int bytesMax(CounterAccess access) {
      return 0;
    }

    @Override
    public void on(CounterAccess access) {
      isBlocking.countDown();
      try {
        end.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void failed(RuntimeException why) {
      throw why;
    }
  }

  @Test
  void anEngineThatDoesNotAnswerRejectsWrites() throws Exception {
    ManualClock clock = new ManualClock(0);
    try (Engine engine = Engine.open(directory, EngineOptions.defaults());
        EngineWatch watch = new EngineWatch(engine, clock)) {
      assertEquals(Optional.empty(), watch.impediment());
      Blocking blocking = new Blocking(new CountDownLatch(1), new CountDownLatch(1));
      CompletableFuture<Void> call =
          CompletableFuture.runAsync(() -> engine.run(List.of(blocking)));
      try {
        blocking.isBlocking.await();
        Progress.await(
            "not ready",
            () -> {
              clock.advance(Duration.ofSeconds(1));
              return watch.impediment().orElse("").startsWith("the disk has not answered for ");
            });
      } finally {
        blocking.end.countDown();
      }
      call.join();
      Progress.await("ready", () -> watch.impediment().isEmpty());
    }
  }

  @Test
  void anEngineThatHasStoppedRejectsWrites() throws Exception {
    try (Engine engine = Engine.open(directory, EngineOptions.defaults());
        EngineWatch watch = new EngineWatch(engine, new ManualClock(0))) {
      engine.stop(new IllegalStateException("test"));
      Progress.await(
          "not ready", () -> watch.impediment().orElse("").startsWith("writes are rejected: "));
    }
  }
}
