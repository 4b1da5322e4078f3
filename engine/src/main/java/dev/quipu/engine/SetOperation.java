package dev.quipu.engine;

import dev.quipu.Limits;
import dev.quipu.SetResult;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Sets or deletes a counter. */
final class SetOperation implements Operation {
  private final String counter;
  private final OptionalLong next;
  private final OptionalLong ifValue;
  private SetResult result = new SetResult.Done(0);
  private @Nullable RuntimeException failure;

  private SetOperation(String counter, OptionalLong next, OptionalLong ifValue) {
    this.counter = Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    this.next = next;
    this.ifValue = ifValue;
  }

  static SetOperation set(String counter, long value, OptionalLong ifValue) {
    return new SetOperation(counter, OptionalLong.of(value), ifValue);
  }

  static SetOperation delete(String counter) {
    return new SetOperation(counter, OptionalLong.empty(), OptionalLong.empty());
  }

  SetResult result() {
    if (failure != null) {
      throw failure;
    }
    return result;
  }

  @Override
  public int bytesMax(CounterAccess access) {
    return CounterAccess.bytesMax(1, counter.length());
  }

  @Override
  public void on(CounterAccess access) {
    OptionalLong value = access.get(counter);
    if (value.isEmpty() && access.exists(counter)) {
      throw new IllegalArgumentException(counter + " holds a text, not a number");
    }
    if (ifValue.isPresent() && value.orElse(0) != ifValue.getAsLong()) {
      result = new SetResult.Mismatch(value);
    } else if (next.isPresent()) {
      access.set(counter, next.getAsLong());
      result = new SetResult.Done(next.getAsLong());
    } else {
      access.remove(counter);
    }
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
