package dev.quipu.engine;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An operation for tests. */
final class OnTurn<T> implements Operation {
  private final Function<CounterTurn, T> what;
  private @Nullable T result;
  private @Nullable RuntimeException failure;

  private OnTurn(Function<CounterTurn, T> what) {
    this.what = what;
  }

  /** Does something in one step, and returns what it returned. */
  static <T> T get(Engine engine, Function<CounterTurn, T> what) {
    OnTurn<T> operation = new OnTurn<>(what);
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

  /** Does something in one step. */
  static void run(Engine engine, Consumer<CounterTurn> what) {
    get(
        engine,
        turn -> {
          what.accept(turn);
          return true;
        });
  }

  @Override
  public int bytesMax(CounterTurn turn) {
    return CounterTurn.bytesMax(8, 64);
  }

  @Override
  public void on(CounterTurn turn) {
    result = what.apply(turn);
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
