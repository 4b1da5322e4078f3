package dev.quipu.engine;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.technique.TechniquesContract;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** All techniques over the engine as a store: the same results as the native counters. */
final class EngineTechniquesTest extends TechniquesContract {
  @TempDir Path directory;
  private @Nullable Engine engine;

  @Override
  protected StoreDriver openStore() {
    engine = Engine.open(directory, EngineOptions.defaults().withLog(1 << 20, 4 << 20));
    return engine.driver();
  }

  @AfterEach
  void closeEngine() {
    if (engine != null) {
      engine.close();
    }
  }
}
