package dev.quipu.hits;

import dev.quipu.cache.LruMap;

/**
 * The counters for which this process did something a short time ago; what it evicts is done again.
 * Thread-safe.
 */
final class RecentlyDone {
  private static final int COUNTERS_MAX = 100_000;

  private final long millis;
  private final LruMap<String, Long> done = new LruMap<>(COUNTERS_MAX);

  /** Creates an empty set of counters that stay for {@code millis}. */
  RecentlyDone(long millis) {
    this.millis = millis;
  }

  boolean contains(String counter, long nowMillis) {
    Long last = done.get(counter);
    return last != null && last <= nowMillis && nowMillis - last < millis;
  }

  void add(String counter, long nowMillis) {
    done.put(counter, nowMillis);
  }
}
