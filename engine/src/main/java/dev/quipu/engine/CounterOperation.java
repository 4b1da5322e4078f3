package dev.quipu.engine;

import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An operation on one counter that has a result. */
final class CounterOperation<T> implements Operation {
  private final String counter;
  private final Function<CounterAccess, T> work;
  private @Nullable T result;
  private @Nullable RuntimeException failure;

  private CounterOperation(String counter, Function<CounterAccess, T> work) {
    this.counter = Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    this.work = work;
  }

  static CounterOperation<SetResult> set(String counter, long value, OptionalLong ifValue) {
    return new CounterOperation<>(
        counter,
        access -> {
          OptionalLong found = number(access, counter);
          if (ifValue.isPresent() && found.orElse(0) != ifValue.getAsLong()) {
            return new SetResult.Mismatch(found);
          }
          access.set(counter, value);
          return new SetResult.Done(value);
        });
  }

  static CounterOperation<Boolean> delete(String counter) {
    return new CounterOperation<>(
        counter, access -> number(access, counter).isPresent() && access.remove(counter));
  }

  private static OptionalLong number(CounterAccess access, String counter) {
    OptionalLong value = access.get(counter);
    if (value.isEmpty() && access.exists(counter)) {
      throw new IllegalArgumentException(counter + " holds a text, not a number");
    }
    return value;
  }

  static CounterOperation<RequestOutcome> outcome(String counter, RequestId id) {
    return new CounterOperation<>(counter, access -> access.outcome(counter, id));
  }

  static CounterOperation<RequestOutcome> cancel(String counter, RequestId id) {
    return new CounterOperation<>(counter, access -> access.cancel(counter, id));
  }

  T result() {
    if (failure != null) {
      throw failure;
    }
    return Objects.requireNonNull(result);
  }

  @Override
  public int bytesMax(CounterAccess access) {
    return CounterAccess.bytesMax(1, counter.length());
  }

  @Override
  public void on(CounterAccess access) {
    result = work.apply(access);
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
