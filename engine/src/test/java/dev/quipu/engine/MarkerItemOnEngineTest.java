package dev.quipu.engine;

import dev.quipu.Counters;
import dev.quipu.store.Store;
import dev.quipu.technique.MarkerItem;
import dev.quipu.time.ManualClock;
import dev.quipu.verify.contract.CountersContract;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** A technique over the engine as a store: the same answers as the fast path. */
final class MarkerItemOnEngineTest extends CountersContract {
  @TempDir Path directory;
  private @Nullable Engine engine;

  @Override
  protected Counters open(ManualClock clock) {
    engine = Engine.open(directory, EngineOptions.defaults().withLog(1 << 20, 4 << 20));
    return new MarkerItem(new Store(engine.driver(), clock));
  }

  @Override
  protected void close() {
    if (engine != null) {
      engine.close();
    }
  }
}
