package dev.quipu.engine;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** The engine as a store. */
final class EngineDriverTest extends StoreContract {
  @TempDir Path directory;
  private @Nullable Engine engine;

  @Override
  protected StoreDriver open() {
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
