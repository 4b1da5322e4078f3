package dev.quipu.engine.state;

import org.jspecify.annotations.Nullable;

/**
 * Looks several names up at once. A lookup reads three places that depend on each other: the slot
 * of the index, the counter, the rest of a long name. In a large table each of them is a cache
 * miss; here those of several names overlap. Not thread-safe.
 */
public final class Lookahead {
  /** Maximum number of names. */
  public static final int NAMES_MAX = 32;

  /** A table of this many pages fits into the cache, beside request ids. */
  private static final int PAGES_CACHED = 1;

  private final NameIndex index;
  private final CounterPages pages;
  private final @Nullable String[] texts = new @Nullable String[NAMES_MAX]; // null for bytes
  private final byte[][] names = new byte[NAMES_MAX][];
  private final int[] starts = new int[NAMES_MAX];
  private final int[] lengths = new int[NAMES_MAX];
  private final int[] hashes = new int[NAMES_MAX];
  private final int[] ordinals = new int[NAMES_MAX];
  private int count;
  private long touched;

  Lookahead(NameIndex index, CounterPages pages) {
    this.index = index;
    this.pages = pages;
  }

  /** Returns whether the table is so large that this saves time. */
  public boolean isUseful() {
    return pages.size() > PAGES_CACHED;
  }

  /** Starts with no names. */
  public void begin() {
    count = 0;
  }

  public void expect(String name) {
    texts[count] = name;
    hashes[count++] = index.hash(name);
  }

  /**
   * Adds a name in UTF-8, which must not change until {@link #find}.
   *
   * @return its place, from 0
   */
  public int expect(byte[] name, int from, int length) {
    texts[count] = null;
    names[count] = name;
    starts[count] = from;
    lengths[count] = length;
    hashes[count] = index.hash(name, from, length);
    return count++;
  }

  /** Looks the names up; see {@link #ordinal}. */
  public void find() {
    // Short loops, of which the processor executes several rounds at once.
    for (int i = 0; i < count; i++) {
      touched += index.touch(hashes[i]);
    }
    for (int i = 0; i < count; i++) {
      ordinals[i] = index.candidate(hashes[i]);
      touched += ordinals[i] < 0 ? 0 : pages.touch(ordinals[i]);
    }
    for (int i = 0; i < count; i++) {
      touched += ordinals[i] < 0 ? 0 : pages.touchName(ordinals[i]);
    }
    for (int i = 0; i < count; i++) {
      String text = texts[i];
      if (ordinals[i] < 0) {
        continue;
      }
      if (text == null) {
        if (!pages.isName(ordinals[i], names[i], starts[i], lengths[i])) {
          ordinals[i] = index.find(names[i], starts[i], lengths[i], pages);
        }
      } else if (!pages.isName(ordinals[i], text)) {
        ordinals[i] = index.find(text, pages);
      }
    }
  }

  /** Returns a number that depends on everything read, so that no read is optimized away. */
  long touched() {
    return touched;
  }

  /** Returns the ordinal of the name at this place; -1 if it had none. */
  public int ordinal(int place) {
    return ordinals[place];
  }
}
