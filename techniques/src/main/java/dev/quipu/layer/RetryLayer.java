package dev.quipu.layer;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Clock;
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

  RetryLayer(StoreDriver driver, Clock clock, RandomGenerator random, RetryPolicy policy) {
    super(driver);
    this.clock = clock;
    this.random = random;
    this.policy = policy;
  }

  Store.Statistics statistics() {
    return new Store.Statistics(calls.sum(), repeats.sum(), unknowns.sum());
  }

  /** Begins attempts for contention, which are counted separately from those for failures. */
  RetryPolicy.Attempts contention() {
    return policy.begin(clock, random);
  }

  /** See {@link Store#attempts}. */
  RetryPolicy.Attempts attempts() {
    Shared whole = SHARED.get();
    return whole == null || whole.layer != this ? policy.begin(clock, random) : whole.attempts;
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
    RetryPolicy.Attempts attempts = attempts();
    while (true) {
      calls.increment();
      try {
        return call.get();
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
}
