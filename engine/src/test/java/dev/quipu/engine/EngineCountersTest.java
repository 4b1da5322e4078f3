package dev.quipu.engine;

import dev.quipu.Counters;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.testkit.technique.CountersContract;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** The engine's native counters. */
final class EngineCountersTest extends CountersContract {
  @TempDir Path directory;
  private @Nullable Engine engine;

  @Override
  protected Counters open(ManualClock clock) {
    engine =
        Engine.open(
            directory,
            EngineOptions.defaults().withLog(1 << 20, 4 << 20).withWindow(WINDOW).withClock(clock));
    return engine;
  }

  @Override
  protected void close() {
    if (engine != null) {
      engine.close();
    }
  }
}
