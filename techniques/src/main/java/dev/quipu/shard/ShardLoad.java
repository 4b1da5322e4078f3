package dev.quipu.shard;

import dev.quipu.cache.LruMap;
import dev.quipu.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.random.RandomGenerator;

/** The write load of this process per counter: which shard is busy, and which counter is hot. */
final class ShardLoad {
  private static final int COUNTERS_MAX = 10_000;
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Clock clock;
  private final RandomGenerator random;
  private final LruMap<String, Heat> counters = new LruMap<>(COUNTERS_MAX);

  ShardLoad(Clock clock, RandomGenerator random) {
    this.clock = clock;
    this.random = random;
  }

  /** The adds of one counter. */
  static final class Heat {
    private final AtomicIntegerArray underWay = new AtomicIntegerArray(ShardOptions.SHARDS_MAX);
    private long windowStart = Long.MIN_VALUE;
    private long adds;

    void begin(int shard) {
      underWay.incrementAndGet(shard);
    }

    void end(int shard) {
      underWay.decrementAndGet(shard);
    }

    private synchronized long addsOfWindow(long now) {
      if (windowStart == Long.MIN_VALUE || now - windowStart > WINDOW_NANOS) {
        windowStart = now;
        adds = 0;
      }
      return ++adds;
    }

    private synchronized void startAgain() {
      windowStart = Long.MIN_VALUE;
    }
  }

  Heat of(String counter) {
    return counters.computeIfAbsent(counter, name -> new Heat());
  }

  /**
   * Notes an add; returns whether the counter exceeded the rate limit of its shards in a second.
   */
  boolean isHot(Heat heat, int shards, long hotAddsPerSecond) {
    boolean hot = heat.addsOfWindow(clock.nanoTime()) > hotAddsPerSecond * shards;
    if (hot) {
      heat.startAgain();
    }
    return hot;
  }

  /** Returns a shard for an add that may go to any. */
  int choose(Heat heat, int shards, ShardOptions.Choice choice) {
    int one = random.nextInt(shards);
    return switch (choice) {
      case RANDOM -> one;
      case LEAST_LOADED -> {
        int other = random.nextInt(shards);
        yield heat.underWay.get(other) < heat.underWay.get(one) ? other : one;
      }
    };
  }
}
