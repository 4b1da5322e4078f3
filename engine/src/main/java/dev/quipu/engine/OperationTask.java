package dev.quipu.engine;

import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.util.List;

/** Runs operations on counters in order, each independent of the others. */
final class OperationTask extends Task {
  private final List<? extends Operation> operations;
  private int done;

  OperationTask(List<? extends Operation> operations) {
    this.operations = operations;
  }

  @Override
  public boolean run(State state, Group group) {
    CounterAccess access = new CounterAccess(state, group);
    while (done < operations.size()) {
      Operation operation = operations.get(done);
      long before = state.changes;
      try {
        int needed = operation.bytesMax(access);
        if (group.canEverFit(needed) && !group.fits(needed)) {
          return false;
        }
        if (!group.canEverFit(needed)) {
          throw access.tooLarge();
        }
        operation.on(access);
        if (operation.isDone()) {
          done++;
        }
      } catch (RuntimeException e) {
        if (state.changes != before) {
          throw e; // partially applied: it must not reach the log
        }
        operation.failed(e);
        done++;
      }
    }
    return true;
  }
}
