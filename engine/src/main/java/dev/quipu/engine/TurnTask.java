package dev.quipu.engine;

import java.util.List;

/** Operations on counters, one after the other, each for itself. */
final class TurnTask extends Task {
  private final List<? extends Operation> operations;
  private int done;

  TurnTask(List<? extends Operation> operations) {
    this.operations = operations;
  }

  @Override
  boolean run(State state, Group group) {
    CounterTurn turn = new CounterTurn(state, group);
    while (done < operations.size()) {
      Operation operation = operations.get(done);
      long before = state.changes;
      try {
        int needed = operation.bytesMax(turn);
        if (group.canEverFit(needed) && !group.fits(needed)) {
          return false;
        }
        if (!group.canEverFit(needed)) {
          throw turn.tooLarge();
        }
        operation.on(turn);
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
