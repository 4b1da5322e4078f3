package dev.quipu.engine.state;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The ordinals of counters that changed since they were taken from here: a bit each. Not
 * thread-safe.
 */
public final class ChangedCounters {
  /** Maximum number of names whose ordinals were freed before they were taken. */
  static final int FORGOTTEN_MAX = 65_536;

  private final BitSet changed = new BitSet();
  private final Deque<String> forgotten = new ArrayDeque<>();
  private boolean isComplete = true;
  private int next;

  void changed(int ordinal) {
    changed.set(ordinal);
  }

  /** Keeps the name of a changed ordinal that is about to lose it. */
  void forgotten(int ordinal, String name) {
    if (changed.get(ordinal)) {
      changed.clear(ordinal);
      if (forgotten.size() == FORGOTTEN_MAX) {
        isComplete = false;
      } else {
        forgotten.add(name);
      }
    }
  }

  /** Takes a changed ordinal; -1 if there is none. */
  public int take() {
    int found = changed.nextSetBit(next);
    if (found < 0 && next > 0) {
      found = changed.nextSetBit(0); // round again: those before it may have changed since
    }
    if (found >= 0) {
      changed.clear(found);
    }
    next = found + 1; // from the start if there is none
    return found;
  }

  /** Takes a name whose ordinal was freed after a change; null if there is none. */
  public @Nullable String takeForgotten() {
    return forgotten.poll();
  }

  /** Returns whether no forgotten name was dropped since this was asked last. */
  public boolean takeIsComplete() {
    boolean was = isComplete;
    isComplete = true;
    return was;
  }
}
