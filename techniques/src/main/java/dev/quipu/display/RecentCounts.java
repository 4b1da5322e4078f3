package dev.quipu.display;

import dev.quipu.cache.LruMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The items that this process used last; a missing one costs only a read. Thread-safe. */
final class RecentCounts {
  private static final int COUNTERS_MAX = 100_000;
  private static final int LOCKS = 64;

  private final ReentrantLock[] locks =
      Stream.generate(ReentrantLock::new).limit(LOCKS).toArray(ReentrantLock[]::new);
  private final LruMap<String, CachedCount> counts = new LruMap<>(COUNTERS_MAX);

  @Nullable CachedCount get(String name) {
    return counts.get(name);
  }

  CachedCount put(CachedCount count) {
    counts.put(count.name(), count);
    return count;
  }

  /** Forgets a number; an entry for its successor stays. */
  void forget(CachedCount count) {
    counts.removeIf(count.name(), now -> now.token().equals(count.token()));
  }

  /** Runs a step that at most one thread of this process runs at a time per counter. */
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
