package dev.quipu.engine.commit;

import dev.quipu.engine.state.State;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** A task that computes its result from the state at one moment. */
final class Query<T> extends Task {
  private final BiFunction<State, Group, T> work;
  private @Nullable T result;

  Query(BiFunction<State, Group, T> work) {
    this.work = work;
  }

  T result() {
    return Objects.requireNonNull(result);
  }

  @Override
  public boolean run(State state, Group group) {
    result = work.apply(state, group);
    return true;
  }
}
