package dev.quipu.engine.state;

import java.util.Arrays;
import java.util.BitSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The pages of a {@link CounterTable}, and the names in them, by ordinal. */
final class CounterPages {
  static final int PAGE_BITS = Integer.numberOfTrailingZeros(CounterTablePage.SIZE);
  private static final int INDEX = CounterTablePage.SIZE - 1;
  private static final int PARALLEL_PAGES = 64; // with fewer, one thread is as fast

  private CounterTablePage[] pages = {};
  private int count;

  /** Returns the number of pages. */
  int size() {
    return count;
  }

  /** Returns a page by its number. */
  CounterTablePage get(int number) {
    return pages[number];
  }

  /** Returns the page of an ordinal. */
  CounterTablePage of(int ordinal) {
    return pages[ordinal >>> PAGE_BITS];
  }

  /** Ensures that there is a page for an ordinal. */
  void reach(int ordinal) {
    while (count << PAGE_BITS <= ordinal) {
      append(new CounterTablePage());
    }
  }

  /** Adds a page; those before it are empty if they are not present. */
  void put(int number, CounterTablePage page) {
    while (count < number) {
      append(new CounterTablePage());
    }
    if (number < count) {
      throw new IllegalStateException("page " + number + " is present");
    }
    append(page);
  }

  private void append(CounterTablePage page) {
    if (count == pages.length) {
      pages = Arrays.copyOf(pages, count + count / 4 + 1);
    }
    pages[count++] = page;
  }

  /** Returns the numbers of the pages of which not all ordinals have a name and are written. */
  BitSet incomplete() {
    IntStream all = IntStream.range(0, count);
    int[] found =
        (count < PARALLEL_PAGES ? all : all.parallel())
            .filter(number -> !pages[number].isFull())
            .toArray();
    BitSet incomplete = new BitSet(count);
    for (int number : found) {
      incomplete.set(number);
    }
    return incomplete;
  }

  boolean hasName(int ordinal) {
    return of(ordinal).hasName(ordinal & INDEX);
  }

  @Nullable String name(int ordinal) {
    return of(ordinal).name(ordinal & INDEX);
  }

  byte[] nameInUtf8(int ordinal) {
    return of(ordinal).nameInUtf8(ordinal & INDEX);
  }

  /** Returns whether an ordinal has this name. */
  boolean isName(int ordinal, byte[] name, int from, int length) {
    return of(ordinal).isName(ordinal & INDEX, name, from, length);
  }

  boolean isName(int ordinal, String name) {
    return of(ordinal).isName(ordinal & INDEX, name);
  }

  /** Prefetches the slot of a counter: see {@link Lookahead}. */
  long touch(int ordinal) {
    return of(ordinal).value(ordinal & INDEX);
  }

  /** Prefetches its name. */
  int touchName(int ordinal) {
    return of(ordinal).touchName(ordinal & INDEX);
  }

  /** Compares the name of an ordinal to another, in the order of UTF-8 bytes. */
  int compareName(int ordinal, byte[] name) {
    return of(ordinal).compareName(ordinal & INDEX, name);
  }

  int compareNames(int ordinal, int other) {
    return of(ordinal).compareName(ordinal & INDEX, of(other), other & INDEX);
  }

  /** Returns four bytes of a name as an unsigned number; 0 stands for those after its end. */
  int nameBytes(int ordinal, int from) {
    return of(ordinal).nameBytes(ordinal & INDEX, from);
  }

  /** Returns the number of bytes that two names begin with. */
  int commonBytes(int ordinal, int other) {
    return of(ordinal).commonBytes(ordinal & INDEX, of(other), other & INDEX);
  }
}
