package dev.quipu.testkit;

import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.StoreDriver;
import java.util.function.Supplier;

/** Crashes a process at one of its calls to its stores, before or after the call. */
final class ProcessCrash implements InterceptingDriver.Interceptor {
  private final int at;
  private final boolean isAfter;
  private int calls;

  /** Ends all work of the process. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /**
   * Creates a crash.
   *
   * @param at the number of the call at which the process crashes, from 1
   * @param isAfter whether the store executes this call
   */
  ProcessCrash(int at, boolean isAfter) {
    this.at = at;
    this.isAfter = isAfter;
  }

  /** Returns the store of a process that crashes. */
  static StoreDriver of(StoreDriver driver, int at, boolean isAfter) {
    return new InterceptingDriver(driver, new ProcessCrash(at, isAfter));
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
