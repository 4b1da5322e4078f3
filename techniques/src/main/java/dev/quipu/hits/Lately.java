package dev.quipu.hits;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * For which counters this process did something a short time ago. A cache: what it forgets is done
 * again. Thread-safe.
 */
final class Lately {
  private static final int COUNTERS_MAX = 100_000;

  private final long millis;
  private final Map<String, Long> done = new ConcurrentHashMap<>();

  /** What is so long ago is not lately. */
  Lately(long millis) {
    this.millis = millis;
  }

  boolean did(String counter, long nowMillis) {
    Long last = done.get(counter);
    return last != null && last <= nowMillis && nowMillis - last < millis;
  }

  void does(String counter, long nowMillis) {
    if (done.size() >= COUNTERS_MAX) {
      done.clear();
    }
    done.put(counter, nowMillis);
  }
}
