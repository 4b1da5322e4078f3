package dev.quipu.verify;

import dev.quipu.store.StoreDriver;
import dev.quipu.verify.simulate.AroundDriver;
import java.util.function.Supplier;

/** The end of a process at one of its calls to its stores: before it, or after it. */
final class Death implements AroundDriver.Around {
  private final int at;
  private final boolean isAfter;
  private int calls;

  /** Nobody in the process goes on. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /**
   * A death to come.
   *
   * @param at the call at which it comes, from 1
   * @param isAfter whether the store does what this call asks for
   */
  Death(int at, boolean isAfter) {
    this.at = at;
    this.isAfter = isAfter;
  }

  /** The one store of a process that dies. */
  static StoreDriver of(StoreDriver driver, int at, boolean isAfter) {
    return new AroundDriver(driver, new Death(at, isAfter));
  }

  @Override
  public <T> T call(Supplier<T> call) {
    calls++;
    if (calls >= at && !isAfter) {
      throw new Crash();
    }
    T answer = call.get();
    if (calls >= at) {
      throw new Crash();
    }
    return answer;
  }
}
