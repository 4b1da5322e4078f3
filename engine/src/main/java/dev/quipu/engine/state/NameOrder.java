package dev.quipu.engine.state;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.PrimitiveIterator;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The written counters in the order of their names. Not thread-safe.
 *
 * <pre>{@code
 * A start reads the order from a snapshot, and completes it with what the log has changed since; if
 * there is none, or too much has changed, it sorts all names.
 *
 * Later, new names wait until they are many, or until a listing needs them: a name in a large table
 * is found by one cache miss after another, and those of names that are sorted first are shared.
 * }</pre>
 */
final class NameOrder {
  static final int WAITING_MAX = 4_096;

  private final CounterPages names;
  private final SortedNames sorted;
  private final BitSet changed = new BitSet(); // a start: added or removed. Later: they wait.
  private final int[] waiting = new int[WAITING_MAX];
  private int waitingCount;
  private boolean isLoaded;
  private boolean isComplete; // except for those that wait

  NameOrder(CounterPages names) {
    this.names = names;
    this.sorted = new SortedNames(names);
  }

  /** Adds an ordinal of a snapshot, whose name is above all others. */
  void load(int ordinal) {
    sorted.append(ordinal);
  }

  /** Declares that the order of a snapshot was added completely. */
  void loaded() {
    isLoaded = true;
  }

  /** Adds an ordinal that is now written. */
  void add(int ordinal) {
    changed.set(ordinal);
    if (isComplete) {
      if (waitingCount == WAITING_MAX) {
        settle();
        changed.set(ordinal);
      }
      waiting[waitingCount++] = ordinal;
    }
  }

  /** Removes an ordinal that is no longer written, and still has its name. */
  void remove(int ordinal) {
    if (!isComplete) {
      changed.set(ordinal);
    } else if (changed.get(ordinal)) {
      changed.clear(ordinal); // it waited
    } else {
      String name = names.name(ordinal);
      if (name != null) {
        sorted.remove(ordinal, name.getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  private void settle() {
    int[] added = new int[waitingCount];
    int count = 0;
    for (int i = 0; i < waitingCount; i++) {
      if (changed.get(waiting[i])) { // otherwise it was removed, or it is the second time
        changed.clear(waiting[i]);
        added[count++] = waiting[i];
      }
    }
    waitingCount = 0;
    sorted.addAll(Arrays.copyOf(added, count));
  }

  /**
   * Completes the order. Before this nothing is in order.
   *
   * @param ordinals upper bound of all ordinals
   * @param count number of counters to list
   * @param isListed returns whether an ordinal is one of them
   */
  void complete(int ordinals, int count, IntPredicate isListed) {
    if (isComplete) {
      return;
    }
    boolean isMerged = isLoaded && changed.cardinality() <= count / 2;
    if (isMerged) {
      sorted.merge(changed, changed.stream().filter(isListed).toArray());
    }
    if (!isMerged || sorted.size() != count) {
      sorted.sort(IntStream.range(0, ordinals).filter(isListed).toArray());
    }
    changed.clear();
    isComplete = true;
  }

  /** Returns the ordinals by name, starting at {@code from}. Valid until the next change. */
  PrimitiveIterator.OfInt from(String from, boolean inclusive) {
    settle();
    return sorted.from(from, inclusive);
  }
}
