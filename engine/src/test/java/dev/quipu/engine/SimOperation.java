package dev.quipu.engine;

import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import org.jspecify.annotations.Nullable;

/** One call of a client, with what the model says about it. */
abstract class SimOperation {
  final SimWorld world;

  /** How many changes the model had when the engine ran it; negative if it did not. */
  int position = -1;

  /** Whether it changed something. */
  boolean hasChanged;

  SimOperation(SimWorld world) {
    this.world = world;
  }

  /** Calls the engine. */
  abstract void call(Engine engine);

  /** The engine runs the task of the call. */
  void running(State state) {}

  /** The engine has run the task of the call, or a part of it. */
  abstract void ran(Task task, State state);

  /** The call was answered: compares the answer. */
  abstract void answered();

  /** Whether an answer that nothing was applied would be wrong. */
  boolean isApplied() {
    return false;
  }

  /** Notes that the engine has run it, with all its changes so far. */
  final void reached() {
    position = world.model.position();
  }

  final void change(SimModel.Change change) {
    world.model.change(change);
    hasChanged = true;
  }

  final void expect(boolean isRight, String what, @Nullable Object expected, @Nullable Object is) {
    if (!isRight) {
      world.violation("%s: %s is %s, expected %s".formatted(this, what, is, expected));
    }
  }
}
