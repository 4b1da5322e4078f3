package dev.quipu.engine;

import dev.quipu.Decimal;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetRequest;
import dev.quipu.SetResult;
import java.util.Objects;
import java.util.Optional;
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
          int scale = access.scale(counter);
          if (ifValue.isPresent() && found.orElse(0) != ifValue.getAsLong()) {
            return new SetResult.Mismatch(found, scale);
          }
          access.set(counter, value, scale);
          return new SetResult.Done(value, scale);
        });
  }

  static CounterOperation<SetResult> set(SetRequest request) {
    String counter = request.counter();
    return new CounterOperation<>(
        counter,
        access -> {
          OptionalLong found = number(access, counter);
          int before = access.scale(counter);
          int scale = request.scale().orElse(before);
          if (scale != before && access.isScaleFixed(counter)) {
            return new SetResult.OtherScale(before);
          }
          if (request.value().isEmpty() && found.isPresent()) {
            return new SetResult.Done(found.getAsLong(), scale);
          }
          Optional<Decimal> ifValue = request.ifValue();
          if (ifValue.isPresent()
              && found.orElse(0) != ifValue.get().unitsAt("field ifValue", before)) {
            return new SetResult.Mismatch(found, before);
          }
          long units = request.value().map(value -> value.unitsAt("field value", scale)).orElse(0L);
          access.set(counter, units, scale);
          return new SetResult.Done(units, scale);
        });
  }

  static CounterOperation<Boolean> delete(String counter) {
    return new CounterOperation<>(
        counter,
        access -> {
          boolean isThere = number(access, counter).isPresent();
          if (isThere && access.isHeld(counter)) {
            throw new NotAppliedException(
                Reason.HELD,
                "counter %s has open holds; settle or release them, then delete it"
                    .formatted(counter));
          }
          return isThere && access.remove(counter);
        });
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
