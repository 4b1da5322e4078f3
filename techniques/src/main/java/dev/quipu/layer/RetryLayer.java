package dev.quipu.layer;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Retries only calls that certainly had no effect and are likely to succeed soon. An unknown
 * outcome is passed to the technique, which decides.
 */
final class RetryLayer extends Layer {
  private static final ThreadLocal<@Nullable Shared> SHARED = new ThreadLocal<>();

  private final Clock clock;
  private final RandomGenerator random;
  private final RetryPolicy policy;
  private final LongAdder calls = new LongAdder();
  private final LongAdder repeats = new LongAdder();
  private final LongAdder unknowns = new LongAdder();
  private final LongAdder retries = new LongAdder();
  private final List<Store.Observer> observers = new CopyOnWriteArrayList<>();

  RetryLayer(StoreDriver driver, Clock clock, RandomGenerator random, RetryPolicy policy) {
    super(driver);
    this.clock = clock;
    this.random = random;
    this.policy = policy;
  }

  Store.Statistics statistics() {
    return new Store.Statistics(calls.sum(), repeats.sum(), unknowns.sum(), retries.sum());
  }

  void observe(Store.Observer observer) {
    observers.add(observer);
  }

  /** Begins attempts for contention, which are counted separately from those for failures. */
  RetryPolicy.Attempts contention() {
    return policy.begin(clock, random, retries);
  }

  /** See {@link Store#attempts}. */
  RetryPolicy.Attempts attempts() {
    Shared whole = SHARED.get();
    return whole == null || whole.layer != this
        ? policy.begin(clock, random, retries)
        : whole.attempts;
  }

  private record Shared(RetryLayer layer, RetryPolicy.Attempts attempts) {}

  /** See {@link Store#sharing}. */
  <T> T sharing(RetryPolicy.Attempts attempts, Supplier<T> calls) {
    Shared before = SHARED.get();
    SHARED.set(new Shared(this, attempts));
    try {
      return calls.get();
    } finally {
      if (before == null) {
        SHARED.remove();
      } else {
        SHARED.set(before);
      }
    }
  }

  @Override
  protected <T> T forward(Supplier<T> call) {
    return retried(false, call);
  }

  @Override
  protected <T> T forwardWrite(Supplier<T> write) {
    return retried(true, write);
  }

  private <T> T retried(boolean isWrite, Supplier<T> call) {
    RetryPolicy.Attempts attempts = attempts();
    while (true) {
      calls.increment();
      try {
        return observers.isEmpty() ? call.get() : observed(isWrite, call);
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.UNKNOWN) {
          unknowns.increment();
          throw e;
        }
        if (!e.reason().isTemporary() || !attempts.again()) {
          throw e;
        }
      }
      repeats.increment();
    }
  }

  private <T> T observed(boolean isWrite, Supplier<T> call) {
    long start = clock.nanoTime();
    T result;
    try {
      result = call.get();
    } catch (QuipuException e) {
      called(isWrite, e, start);
      throw e;
    }
    called(isWrite, null, start);
    return result;
  }

  private void called(boolean isWrite, @Nullable QuipuException failure, long start) {
    long nanos = clock.nanoTime() - start;
    for (Store.Observer each : observers) {
      each.called(isWrite, failure, nanos);
    }
  }
}
