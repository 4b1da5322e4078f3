package dev.quipu.engine;

import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import org.jspecify.annotations.Nullable;

/** One call of a client, with the expectations of the model. */
abstract class SimOperation {
  final SimWorld world;

  /** The number of changes in the model when the engine ran it; negative if it did not. */
  int position = -1;

  /** Whether it changed something. */
  boolean hasChanged;

  SimOperation(SimWorld world) {
    this.world = world;
  }

  /** Calls the engine. */
  abstract void call(Engine engine);

  /** Called when the engine runs the task of the call. */
  void running(State state) {}

  /** Called when the engine has run the task of the call, or a part of it. */
  abstract void ran(Task task, State state);

  /** Called when the call was answered: compares the result. */
  abstract void answered();

  /** Returns whether a result of "nothing applied" would be wrong. */
  boolean isApplied() {
    return false;
  }

  /** Records that the engine has run it, with all its changes so far. */
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
