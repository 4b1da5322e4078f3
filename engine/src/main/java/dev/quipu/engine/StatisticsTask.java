package dev.quipu.engine;

import dev.quipu.engine.commit.Committer;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.state.State;

/** Collects statistics of the engine's content. */
final class StatisticsTask extends Task {
  private long counters;
  private long named;
  private long memoryBytes;
  private long items;
  private long ids;
  private int idFiles;

  @Override
  public boolean run(State state, Group group) {
    counters = new CounterAccess(state, group).size();
    named = state.counters.named();
    memoryBytes = state.memoryBytes();
    items = state.items.size();
    ids = state.ids.size();
    idFiles = state.ids.files().size();
    return true;
  }

  /** Returns the collected statistics, with those of the committer and the log. */
  Engine.Statistics statistics(Committer committer, Log log) {
    return new Engine.Statistics(
        counters,
        named - counters,
        items,
        memoryBytes,
        ids,
        idFiles,
        committer.frames(),
        committer.bytes(),
        log.segments());
  }
}
