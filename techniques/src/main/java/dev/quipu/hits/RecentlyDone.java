package dev.quipu.hits;

import dev.quipu.cache.LruMap;

/**
 * The counters for which this process did some work recently; for an evicted one it is done again.
 * Thread-safe.
 */
final class RecentlyDone {
  private static final int COUNTERS_MAX = 100_000;

  private final long millis;
  private final LruMap<String, Long> done = new LruMap<>(COUNTERS_MAX);

  /** Creates an empty set whose entries stay for {@code millis}. */
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
