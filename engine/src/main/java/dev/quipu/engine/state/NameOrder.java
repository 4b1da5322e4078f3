package dev.quipu.engine.state;

import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The written counters in the order of their names. Not thread-safe.
 *
 * <pre>{@code
 * A start reads the order from a snapshot, and sorts only what the log has changed since; if there
 * is none, or too much has changed, it sorts all names.
 *
 * Names that are new since then are in an order of their own, which is smaller: adding to it is
 * faster, and a start need not compare them to all others. A listing reads both.
 *
 * New names wait until they are many, or until a listing needs them: a name in a large table is
 * found by one cache miss after another, and those of names that are sorted first are shared.
 * }</pre>
 */
final class NameOrder {
  static final int WAITING_MAX = 4_096;

  private final CounterPages names;
  private final SortedNames old; // those of the start
  private final SortedNames young; // those since
  private final BitSet changed = new BitSet(); // a start: added or removed. Later: they wait.
  private final int[] waiting = new int[WAITING_MAX];
  private int waitingCount;
  private boolean isLoaded;
  private boolean isComplete; // except for those that wait

  NameOrder(CounterPages names) {
    this.names = names;
    this.old = new SortedNames(names);
    this.young = new SortedNames(names);
  }

  /** Adds ordinals of a snapshot, whose names are above all others, in their order. */
  void load(IntBuffer ordinals) {
    old.append(ordinals);
  }

  /** Declares that the order of a snapshot was added completely. */
  void loaded() {
    isLoaded = true;
  }

  /** Declares, before the order is complete, that an ordinal may not be as when it was added. */
  void changed(int ordinal) {
    changed.set(ordinal);
  }

  /** Adds an ordinal that is now written. */
  void add(int ordinal) {
    if (waitingCount == WAITING_MAX) {
      settle(); // before its flag is set: it may be there from before it was removed
    }
    changed.set(ordinal);
    if (isComplete) {
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
      byte[] utf8 = name == null ? new byte[0] : name.getBytes(StandardCharsets.UTF_8);
      if (!young.remove(ordinal, utf8) && !old.remove(ordinal, utf8)) {
        throw new IllegalStateException("ordinal " + ordinal + " is not listed");
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
    young.addAll(Arrays.copyOf(added, count));
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
    boolean isKept = isLoaded && changed.cardinality() <= count / 2;
    if (isKept) {
      old.removeAll(changed);
      young.sort(changed.stream().filter(isListed).toArray());
    }
    if (!isKept || old.size() + young.size() != count) {
      young.sort(new int[0]);
      old.sort(IntStream.range(0, ordinals).filter(isListed).toArray());
    }
    changed.clear();
    isComplete = true;
  }

  /** Returns the ordinals by name, starting at {@code from}. Valid until the next change. */
  PrimitiveIterator.OfInt from(String from, boolean inclusive) {
    settle();
    PrimitiveIterator.OfInt first = old.from(from, inclusive);
    PrimitiveIterator.OfInt second = young.from(from, inclusive);
    if (!second.hasNext()) {
      return first;
    }
    return first.hasNext() ? new Merged(first, second) : second;
  }

  /** The ordinals of two iterators, neither of which is at its end, by name. */
  private final class Merged implements PrimitiveIterator.OfInt {
    private static final int END = -1;

    private final PrimitiveIterator.OfInt first;
    private final PrimitiveIterator.OfInt second;
    private int nextOfFirst;
    private int nextOfSecond;

    Merged(PrimitiveIterator.OfInt first, PrimitiveIterator.OfInt second) {
      this.first = first;
      this.second = second;
      this.nextOfFirst = first.nextInt();
      this.nextOfSecond = second.nextInt();
    }

    @Override
    public boolean hasNext() {
      return nextOfFirst != END || nextOfSecond != END;
    }

    @Override
    public int nextInt() {
      boolean isFirst =
          nextOfSecond == END
              || (nextOfFirst != END && names.compareNames(nextOfFirst, nextOfSecond) < 0);
      int next = isFirst ? nextOfFirst : nextOfSecond;
      if (next == END) {
        throw new NoSuchElementException();
      }
      if (isFirst) {
        nextOfFirst = first.hasNext() ? first.nextInt() : END;
      } else {
        nextOfSecond = second.hasNext() ? second.nextInt() : END;
      }
      return next;
    }
  }
}
