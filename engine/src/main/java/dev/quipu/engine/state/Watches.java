package dev.quipu.engine.state;

import java.util.HashMap;
import java.util.Map;

/**
 * Names that somebody watches, and how often each was changed since. A change of a member is one of
 * its family too. Not thread-safe.
 */
public final class Watches {
  /** Ends the name of a family of counters, within the names of its members. */
  public static final char MEMBER = '\u001f';

  /** The same, of a family that is ranked. */
  public static final char RANKED_MEMBER = '\u001e';

  /** Heap of a watched name besides its chars, in bytes. */
  private static final int WATCH_BYTES = 128;

  private final Map<String, Watched> watched = new HashMap<>();
  private long memoryBytes;

  private static final class Watched {
    private int watchers;
    private long changes;
  }

  /** Whether nothing is watched, as nearly always. */
  public boolean isEmpty() {
    return watched.isEmpty();
  }

  /** Returns about how much heap they take, in bytes. */
  public long memoryBytes() {
    return memoryBytes;
  }

  /** Returns how much heap this watch takes besides, in bytes. */
  public long memoryBytes(String name) {
    return watched.containsKey(name) ? 0 : bytes(name);
  }

  private static long bytes(String name) {
    return WATCH_BYTES + (long) Character.BYTES * name.length();
  }

  /** Counts changes until {@link #unwatch} is called as often; returns how many there were. */
  public long watch(String name) {
    memoryBytes += memoryBytes(name);
    Watched each = watched.computeIfAbsent(name, key -> new Watched());
    each.watchers++;
    return each.changes;
  }

  public void unwatch(String name) {
    Watched each = watched.get(name);
    if (each != null && --each.watchers == 0) {
      watched.remove(name);
      memoryBytes -= bytes(name);
    }
  }

  /** Returns how often a name was changed; 0 if it is not watched. */
  public long changes(String name) {
    Watched each = watched.get(name);
    return each == null ? 0 : each.changes;
  }

  /** Notes that a counter was changed. */
  public void changed(String counter) {
    if (!watched.isEmpty()) {
      count(counter);
      int end = familyEnd(counter);
      if (end >= 0) {
        count(counter.substring(0, end));
      }
    }
  }

  /** Returns how long the name is of the family that a member is of; -1 if it is of none. */
  public static int familyEnd(String name) {
    int member = name.indexOf(MEMBER);
    int ranked = name.indexOf(RANKED_MEMBER);
    return member < 0 || (ranked >= 0 && ranked < member) ? ranked : member;
  }

  private void count(String name) {
    Watched each = watched.get(name);
    if (each != null) {
      each.changes++;
    }
  }
}
