package dev.quipu.engine.state;

import java.util.HashMap;
import java.util.Map;

/**
 * Watched names, and the number of changes of each since then. A change of a member also counts as
 * a change of its family. Not thread-safe.
 */
public final class Watches {
  /** Separates the name of a family of counters from the rest of its members' names. */
  public static final char MEMBER = '\u001f';

  /** Like {@link #MEMBER}, for a ranked family. */
  public static final char RANKED_MEMBER = '\u001e';

  /** Heap of a watched name without its chars, in bytes. */
  private static final int WATCH_BYTES = 128;

  private final Map<String, Watched> watched = new HashMap<>();
  private long memoryBytes;

  private static final class Watched {
    private int watchers;
    private long changes;
  }

  /** Returns whether nothing is watched, the common case. */
  public boolean isEmpty() {
    return watched.isEmpty();
  }

  /** Returns the estimated heap of all watches, in bytes. */
  public long memoryBytes() {
    return memoryBytes;
  }

  /** Returns the additional heap of this watch, in bytes. */
  public long memoryBytes(String name) {
    return watched.containsKey(name) ? 0 : bytes(name);
  }

  private static long bytes(String name) {
    return WATCH_BYTES + (long) Character.BYTES * name.length();
  }

  /**
   * Counts changes until {@link #unwatch} is called the same number of times; returns the current
   * number.
   */
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

  /** Records a change of a counter. */
  public void changed(String counter) {
    if (!watched.isEmpty()) {
      count(counter);
      int end = familyEnd(counter);
      if (end >= 0) {
        count(counter.substring(0, end));
      }
    }
  }

  /** Returns the length of the family name within a member's name; -1 if it is not a member. */
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
