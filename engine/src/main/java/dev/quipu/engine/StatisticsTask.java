package dev.quipu.engine;

import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.StateSizes;
import org.jspecify.annotations.Nullable;

/** Collects statistics of the engine's content. */
final class StatisticsTask extends Task {
  long counters;
  @Nullable StateSizes sizes;

  @Override
  public boolean run(State state, Group group) {
    counters = new CounterAccess(state, group).size();
    sizes = state.sizes();
    return true;
  }
}
