package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import java.nio.file.Path;
import java.util.List;

/** The engine, by its fast path. */
final class EngineTarget implements Target {
  private final Engine engine;

  EngineTarget(Path directory) {
    engine = Engine.open(directory, EngineOptions.defaults());
  }

  @Override
  public int addAll(List<Add> adds) {
    int applied = 0;
    for (ItemResult result : engine.addAll(adds)) {
      applied += result instanceof AddResult.Applied ? 1 : 0;
    }
    return applied;
  }

  @Override
  public void close() {
    engine.close();
  }
}
