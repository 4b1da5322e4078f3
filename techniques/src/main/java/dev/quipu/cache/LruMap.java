package dev.quipu.cache;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A map of limited size that evicts the least recently used entry. Functions passed in run under
 * its lock and must not block. Thread-safe.
 */
public final class LruMap<K, V> {
  private final Map<K, V> entries;

  /** Creates an empty map of at most {@code entriesMax} entries. */
  public LruMap(int entriesMax) {
    this.entries =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1;

          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > entriesMax;
          }
        };
  }

  /** Returns the value of a key; null if there is none. */
  public synchronized @Nullable V get(K key) {
    return entries.get(key);
  }

  /** Sets the value of a key. */
  public synchronized void put(K key, V value) {
    entries.put(key, value);
  }

  /** Returns the value of a key, which is created if there is none. */
  public synchronized V computeIfAbsent(K key, Function<K, V> create) {
    return entries.computeIfAbsent(key, create);
  }

  /** Sets the value of a key, merged with the one that is there. */
  public synchronized void merge(K key, V value, BinaryOperator<V> merge) {
    entries.merge(key, value, merge);
  }

  /** Removes a key; returns its value, or null if there was none. */
  public synchronized @Nullable V remove(K key) {
    return entries.remove(key);
  }

  /** Removes a key if its value meets a condition. */
  public synchronized void removeIf(K key, Predicate<V> condition) {
    V value = entries.get(key);
    if (value != null && condition.test(value)) {
      entries.remove(key);
    }
  }
}
