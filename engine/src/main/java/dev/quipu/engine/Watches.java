package dev.quipu.engine;

import java.util.HashMap;
import java.util.Map;

/**
 * Names that somebody watches, and how often each was changed since. A change of a member is one of
 * its family too. Not thread-safe.
 */
final class Watches {
  /** Heap of a watched name besides its chars, in bytes. */
  private static final int WATCH_BYTES = 128;

  private final Map<String, Watched> watched = new HashMap<>();
  private long memoryBytes;

  private static final class Watched {
    private int watchers;
    private long changes;
  }

  /** Whether nothing is watched, as nearly always. */
  boolean isEmpty() {
    return watched.isEmpty();
  }

  /** Returns about how much heap they take, in bytes. */
  long memoryBytes() {
    return memoryBytes;
  }

  /** Returns how much heap this watch takes besides, in bytes. */
  long memoryBytes(String name) {
    return watched.containsKey(name) ? 0 : bytes(name);
  }

  private static long bytes(String name) {
    return WATCH_BYTES + (long) Character.BYTES * name.length();
  }

  /** Counts changes until {@link #unwatch} is called as often; returns how many there were. */
  long watch(String name) {
    memoryBytes += memoryBytes(name);
    Watched each = watched.computeIfAbsent(name, key -> new Watched());
    each.watchers++;
    return each.changes;
  }

  void unwatch(String name) {
    Watched each = watched.get(name);
    if (each != null && --each.watchers == 0) {
      watched.remove(name);
      memoryBytes -= bytes(name);
    }
  }

  /** Returns how often a name was changed; 0 if it is not watched. */
  long changes(String name) {
    Watched each = watched.get(name);
    return each == null ? 0 : each.changes;
  }

  /** Notes that a counter was changed. */
  void changed(String counter) {
    if (!watched.isEmpty()) {
      count(counter);
      int end = CounterTurn.familyEnd(counter);
      if (end >= 0) {
        count(counter.substring(0, end));
      }
    }
  }

  private void count(String name) {
    Watched each = watched.get(name);
    if (each != null) {
      each.changes++;
    }
  }
}
