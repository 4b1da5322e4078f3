package dev.quipu.engine.state;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Open holds in the order of their expiry; those that expire at the same time, in the order in
 * which they were added. Not thread-safe.
 *
 * <p>Holds with the same expiry are linked, since most holds of a group have the same one.
 */
final class ExpiryOrder {
  private final TreeMap<Long, Ends> chains = new TreeMap<>();
  private long added;

  /** The first and the last hold with one expiry. */
  private static final class Ends {
    private OpenHold first;
    private OpenHold last;

    Ends(OpenHold only) {
      first = only;
      last = only;
    }
  }

  void add(OpenHold hold) {
    hold.order = ++added;
    Ends ends = chains.get(hold.expiresMillis());
    if (ends == null) {
      chains.put(hold.expiresMillis(), new Ends(hold));
    } else {
      ends.last.next = hold;
      hold.previous = ends.last;
      ends.last = hold;
    }
  }

  void remove(OpenHold hold) {
    OpenHold previous = hold.previous;
    OpenHold next = hold.next;
    if (previous != null) {
      previous.next = next;
    } else if (next != null) {
      ends(hold).first = next;
    } else {
      chains.remove(hold.expiresMillis());
    }
    if (next != null) {
      next.previous = previous;
    } else if (previous != null) {
      ends(hold).last = previous;
    }
    hold.previous = null;
    hold.next = null;
  }

  @SuppressWarnings("NullAway") // the hold is in a chain
  private Ends ends(OpenHold hold) {
    return chains.get(hold.expiresMillis());
  }

  @Nullable OpenHold first() {
    Map.Entry<Long, Ends> entry = chains.firstEntry();
    return entry == null ? null : entry.getValue().first;
  }

  /**
   * Returns holds after a position.
   *
   * @param after which may have been removed since; null for the first ones
   */
  List<OpenHold> next(@Nullable OpenHold after, int limit) {
    List<OpenHold> found = new ArrayList<>();
    var rest = after == null ? chains : chains.tailMap(after.expiresMillis(), true);
    for (Map.Entry<Long, Ends> chain : rest.entrySet()) {
      OpenHold hold =
          after != null && chain.getKey() == after.expiresMillis()
              ? following(chain.getValue(), after)
              : chain.getValue().first;
      for (; hold != null; hold = hold.next) {
        if (found.size() == limit) {
          return found;
        }
        found.add(hold);
      }
    }
    return found;
  }

  private static @Nullable OpenHold following(Ends ends, OpenHold after) {
    if (after.next != null) {
      return after.next;
    }
    OpenHold hold = ends.first; // it was removed, or is the last one
    while (hold != null && hold.order <= after.order) {
      hold = hold.next;
    }
    return hold;
  }
}
