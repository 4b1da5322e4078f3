package dev.quipu.display;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What this process remembers of the counters that it saw last. To have forgotten one costs a read,
 * no more. Thread-safe.
 */
final class Known {
  private static final int COUNTERS_MAX = 100_000;
  private static final int LOCKS = 64;

  private final ReentrantLock[] locks =
      Stream.generate(ReentrantLock::new).limit(LOCKS).toArray(ReentrantLock[]::new);
  private final Map<String, CachedCount> counts =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, CachedCount> eldest) {
          return size() > COUNTERS_MAX;
        }
      };

  synchronized @Nullable CachedCount get(String name) {
    return counts.get(name);
  }

  synchronized CachedCount put(CachedCount count) {
    counts.put(count.name(), count);
    return count;
  }

  /** Forgets what is known of a number; what is known of its successor stays. */
  synchronized void forget(CachedCount count) {
    CachedCount now = counts.get(count.name());
    if (now != null && now.token().equals(count.token())) {
      counts.remove(count.name());
    }
  }

  /** Does something of which one thread of this process is enough at a time, for this counter. */
  <T> T alone(String name, Supplier<T> step) {
    ReentrantLock lock = locks[Math.floorMod(name.hashCode(), LOCKS)];
    lock.lock();
    try {
      return step.get();
    } finally {
      lock.unlock();
    }
  }
}
