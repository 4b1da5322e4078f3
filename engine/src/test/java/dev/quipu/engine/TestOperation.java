package dev.quipu.engine;

import dev.quipu.engine.commit.Group;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.state.State;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An operation for tests. */
@SuppressWarnings("exports") // used by tests only
public final class TestOperation<T> implements Operation {
  private final Function<CounterAccess, T> what;
  private @Nullable T result;
  private @Nullable RuntimeException failure;

  private TestOperation(Function<CounterAccess, T> what) {
    this.what = what;
  }

  /** Runs a function as one atomic operation, and returns its result. */
  public static <T> T get(Engine engine, Function<CounterAccess, T> what) {
    TestOperation<T> operation = new TestOperation<>(what);
    engine.run(List.of(operation));
    RuntimeException why = operation.failure;
    if (why != null) {
      throw why;
    }
    T result = operation.result;
    if (result == null) {
      throw new AssertionError("it was not done");
    }
    return result;
  }

  /** Runs an action as one atomic operation. */
  public static void run(Engine engine, Consumer<CounterAccess> what) {
    get(
        engine,
        access -> {
          what.accept(access);
          return true;
        });
  }

  /** Returns the settings of options, for a test outside this package. */
  public static Settings settings(EngineOptions options) {
    return options.settings();
  }

  /** Returns access to the counters of a state, for a test outside this package. */
  public static CounterAccess access(State state, Group group) {
    return new CounterAccess(state, group);
  }

  @Override
  public int bytesMax(CounterAccess access) {
    return CounterAccess.bytesMax(8, 64);
  }

  @Override
  public void on(CounterAccess access) {
    result = what.apply(access);
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
