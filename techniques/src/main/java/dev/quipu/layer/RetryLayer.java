package dev.quipu.layer;

import dev.quipu.Outcome;
import dev.quipu.StoreException;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a call that certainly had no effect and may succeed a moment later, and nothing else: an
 * unknown outcome goes to the technique, which alone knows what to do.
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

  /** Begins attempts against contention, which are not shared with those against failures. */
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

  private <T> T attempt(Supplier<T> call) {
    RetryPolicy.Attempts attempts = attempts();
    while (true) {
      calls.increment();
      try {
        return call.get();
      } catch (StoreException e) {
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

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return attempt(() -> super.get(key, consistency));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return attempt(() -> super.getAll(keys));
  }

  @Override
  public WriteResult write(Write write) {
    return attempt(() -> super.write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return attempt(() -> super.writeAll(writes, token));
  }

  @Override
  public Page scan(Scan scan) {
    return attempt(() -> super.scan(scan));
  }

  @Override
  public long count(Scan scan) {
    return attempt(() -> super.count(scan));
  }

  @Override
  public void addTokens(Key key, String field, Set<String> tokens) {
    attempt(() -> {
      super.addTokens(key, field, tokens);
      return tokens;
    });
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> tokens) {
    attempt(() -> {
      super.dropTokens(key, field, tokens);
      return tokens;
    });
  }

  @Override
  public Instant intactSince() {
    return attempt(super::intactSince);
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    return attempt(() -> super.removeExpired(before, itemsMax));
  }

  @Override
  public Optional<Instant> time() {
    return attempt(super::time);
  }

  @Override
  public List<Finding> inspect() {
    return attempt(super::inspect);
  }
}
