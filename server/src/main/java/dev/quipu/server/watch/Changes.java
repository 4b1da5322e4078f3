package dev.quipu.server.watch;

import dev.quipu.backend.CounterFeed.Change;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The changes of the last ticks, from which a client goes on that was away or slow. Not
 * thread-safe.
 */
final class Changes {
  /** Maximum number of ticks and changes that are kept: about 30 MB. */
  static final int TICKS_MAX = 600;

  static final int CHANGES_MAX = 250_000;

  private static final Comparator<Change> BY_NAME = Comparator.comparing(Change::name);

  /** The changes of a tick, by name, one of each counter. */
  private record Tick(long number, List<Change> changes) {}

  private final Deque<Tick> ticks = new ArrayDeque<>();
  private long dropped; // the last tick whose changes are no longer here
  private long last;
  private int kept;

  /** Returns the number of the last tick. */
  long last() {
    return last;
  }

  /** Adds the changes of another tick, in their order: a counter may have changed several times. */
  void add(List<Change> changes) {
    last++;
    if (!changes.isEmpty()) {
      List<Change> each = lastOfEach(changes);
      ticks.addLast(new Tick(last, each));
      kept += each.size();
    }
    while (!ticks.isEmpty()
        && (kept > CHANGES_MAX || ticks.getFirst().number() <= last - TICKS_MAX)) {
      Tick oldest = ticks.removeFirst();
      dropped = oldest.number();
      kept -= oldest.changes().size();
    }
  }

  private static List<Change> lastOfEach(List<Change> changes) {
    List<Change> sorted = new ArrayList<>(changes);
    sorted.sort(BY_NAME); // stable: of one counter, the last one comes last
    List<Change> found = new ArrayList<>(sorted.size());
    for (Change each : sorted) {
      if (!found.isEmpty() && found.getLast().name().equals(each.name())) {
        found.removeLast();
      }
      found.add(each);
    }
    return found;
  }

  /** Forgets all changes: some are missing. */
  void clear() {
    ticks.clear();
    kept = 0;
    dropped = last;
  }

  /** Returns whether all changes after a tick are here. */
  boolean hasAllSince(long tick) {
    return tick >= dropped && tick <= last;
  }

  /**
   * Returns the changes of counters with a prefix after a tick, the last one of each; empty if they
   * are no longer all here.
   */
  Optional<Collection<Change>> since(long tick, String prefix) {
    if (!hasAllSince(tick)) {
      return Optional.empty();
    }
    Map<String, Change> found = new LinkedHashMap<>();
    for (Iterator<Tick> newest = ticks.descendingIterator(); newest.hasNext(); ) {
      Tick each = newest.next();
      if (each.number() <= tick) {
        break;
      }
      addTo(found, each.changes(), prefix);
    }
    return Optional.of(found.values());
  }

  private static void addTo(Map<String, Change> found, List<Change> changes, String prefix) {
    Change first = new Change(prefix, Optional.empty());
    int at = Collections.binarySearch(changes, first, BY_NAME);
    for (int i = at < 0 ? -at - 1 : at; i < changes.size(); i++) {
      Change each = changes.get(i);
      if (!each.name().startsWith(prefix)) {
        break;
      }
      found.putIfAbsent(each.name(), each); // later ticks came first
    }
  }
}
