package dev.quipu.engine;

import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.util.List;

/** Operations on counters, one after the other, each for itself. */
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
          throw e; // it is half done, and must not get into the log
        }
        operation.failed(e);
        done++;
      }
    }
    return true;
  }
}
