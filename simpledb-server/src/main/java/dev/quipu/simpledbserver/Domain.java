package dev.quipu.simpledbserver;

import dev.quipu.store.Key;
import dev.quipu.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * The items of a domain in their current state, and in the states of lagging replicas. Thread-safe.
 *
 * <p>Attributes are sets of values, both in byte order. An item without attributes does not exist.
 */
final class Domain {
  private final Clock clock;
  private final long lagMillis;
  private final int writesPerSecondMax;
  private final RandomGenerator random;
  private long second; // of the last write
  private int writes; // in that second
  private final NavigableMap<String, Deque<State>> items = new TreeMap<>(Key.ORDER);

  private record State(long sinceMillis, NavigableMap<String, NavigableSet<String>> attributes) {}

  Domain(Clock clock, SimpleDbOptions options, RandomGenerator random) {
    this.clock = clock;
    this.lagMillis = options.lagMax().toMillis();
    this.writesPerSecondMax = options.writesPerSecondMax();
    this.random = random;
  }

  /** Returns the attributes of an item, which the caller must not change. */
  synchronized NavigableMap<String, NavigableSet<String>> get(String item, boolean consistent) {
    Deque<State> states = items.get(item);
    return states == null ? new TreeMap<>() : seen(states, consistent);
  }

  /** An item as seen by a reader. */
  record Found(String name, NavigableMap<String, NavigableSet<String>> attributes) {}

  /** Returns all items as seen by a reader, ordered by name. */
  synchronized List<Found> all(boolean consistent) {
    List<Found> found = new ArrayList<>();
    items.forEach((name, states) -> {
      NavigableMap<String, NavigableSet<String>> attributes = seen(states, consistent);
      if (!attributes.isEmpty()) {
        found.add(new Found(name, attributes));
      }
    });
    return found;
  }

  private NavigableMap<String, NavigableSet<String>> seen(Deque<State> states, boolean consistent) {
    if (consistent || lagMillis == 0) {
      return states.getLast().attributes;
    }
    long moment = clock.epochMillis() - random.nextLong(lagMillis + 1);
    NavigableMap<String, NavigableSet<String>> found = new TreeMap<>();
    for (State state : states) {
      if (state.sinceMillis > moment) {
        break;
      }
      found = state.attributes;
    }
    return found;
  }

  /**
   * Changes several items atomically.
   *
   * @param changes change a copy of each item; may throw
   * @throws SdbException if the domain does not accept more writes in this second
   */
  synchronized void change(
      Map<String, UnaryOperator<NavigableMap<String, NavigableSet<String>>>> changes) {
    accept(changes.size());
    Map<String, NavigableMap<String, NavigableSet<String>>> after = new TreeMap<>();
    changes.forEach((name, change) -> after.put(name, change.apply(copy(get(name, true)))));
    long now = clock.epochMillis();
    after.forEach((name, attributes) -> {
      Deque<State> states = items.computeIfAbsent(name, ignored -> new ArrayDeque<>());
      states.addLast(new State(now, attributes));
      forget(name, states, now - lagMillis);
    });
  }

  private void accept(int items) {
    long now = Math.floorDiv(clock.epochMillis(), 1_000);
    int before = now == second ? writes : 0;
    if (items > writesPerSecondMax - before) {
      throw SdbException.unavailable();
    }
    second = now;
    writes = before + items;
  }

  /** Drops states that are older than the maximum lag. */
  private void forget(String name, Deque<State> states, long moment) {
    while (states.size() > 1) {
      Iterator<State> order = states.iterator();
      order.next();
      if (order.next().sinceMillis > moment) {
        return;
      }
      states.removeFirst();
    }
    if (lagMillis == 0 && states.getLast().attributes.isEmpty()) {
      items.remove(name);
    }
  }

  private static NavigableMap<String, NavigableSet<String>> copy(
      NavigableMap<String, NavigableSet<String>> attributes) {
    NavigableMap<String, NavigableSet<String>> copy = new TreeMap<>(Key.ORDER);
    attributes.forEach((name, values) -> {
      NavigableSet<String> same = new TreeSet<>(Key.ORDER);
      same.addAll(values);
      copy.put(name, same);
    });
    return copy;
  }

  static int pairs(NavigableMap<String, NavigableSet<String>> attributes) {
    return attributes.values().stream().mapToInt(NavigableSet::size).sum();
  }
}
