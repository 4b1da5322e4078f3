package dev.quipu.engine.state;

import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.ids.Secret;
import dev.quipu.store.Key;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/*
 * Each counter has an ordinal, one that is free. Names and values lie in pages by ordinal,
 * so that a page never moves. Names are found through an index; a sorted map of names serves
 * listings.
 *
 * A counter that was removed keeps its name and ordinal as a tombstone while request ids refer to
 * them: see Tombstones. Then both are free for another counter.
 *
 * An ordinal may hold a text in place of a number: what clients keep beside their counters. These
 * are few, and lie in a map.
 *
 * Versions tell whether something changed since it was looked at. They come with the first look at
 * a page, and are not kept on disk: they start at a number that no earlier run has reached.
 */

/** Names and values of all counters. Not thread-safe. */
public final class CounterTable {
  private static final int PAGE = CounterTablePage.SIZE;
  private static final int PAGE_BITS = Integer.numberOfTrailingZeros(PAGE);

  /** Heap of a counter besides its name, in bytes: an estimate, rather too high than too low. */
  static final int COUNTER_BYTES = 192;

  /** Heap of each char of a name: in the string, and once more in the page. */
  private static final int CHAR_BYTES = 3;

  /** Heap of a text besides its content, in bytes. */
  private static final int TEXT_BYTES = 96;

  private final NameIndex index;
  private CounterTablePage[] pages = {};
  private final Map<Integer, byte[]> texts = new HashMap<>();
  private long lastVersion;
  private final TreeMap<String, Integer> sorted = new TreeMap<>(Key.ORDER);
  private int size;
  private int named;
  private int[] free = new int[16]; // ordinals below size without a name
  private int freeCount;
  private long memoryBytes;
  private long nextExpiryMillis = Long.MAX_VALUE; // no counter expires before

  CounterTable(Secret secret) {
    this.index = new NameIndex(secret);
  }

  /** What an ordinal held when it was looked at. */
  public static final class Content {
    public final String name;
    public final boolean isWritten;
    public final long value;
    public final byte @Nullable [] text; // null for a number
    public final long expiresAt;
    public final boolean hasIds;

    private Content(CounterTable table, int ordinal, String name, boolean hasIds) {
      this.name = name;
      this.hasIds = hasIds;
      this.isWritten = table.isWritten(ordinal);
      this.value = table.value(ordinal);
      this.text = table.text(ordinal);
      this.expiresAt = table.expiresAt(ordinal);
    }
  }

  /** All ordinals are below it. */
  public int size() {
    return size;
  }

  /** Ordinals that have a name: counters and tombstones. */
  public int named() {
    return named;
  }

  /** Returns about how much heap counters, texts and tombstones take, in bytes. */
  long memoryBytes() {
    return memoryBytes;
  }

  /** Returns how much heap a new counter takes, in bytes. */
  public static long memoryBytes(String name) {
    return COUNTER_BYTES + (long) CHAR_BYTES * name.length();
  }

  /** Returns how much heap a text takes in a counter's place, in bytes. */
  public static long memoryBytes(byte[] text) {
    return (long) TEXT_BYTES + text.length;
  }

  /** The ordinal of a name; -1 if it has none. */
  public int find(String name) {
    return index.find(name, this);
  }

  /** The same, of a short name in ASCII without control characters; -1 for any other name too. */
  public int find(byte[] name, int from, int length) {
    if (length < 1 || length > CounterTablePage.SHORT_NAME_MAX) {
      return -1;
    }
    for (int i = from; i < from + length; i++) {
      if (name[i] < ' ') { // above 0x7f it is negative
        return -1;
      }
    }
    return index.find(name, from, length, this);
  }

  /** Whether an ordinal has this short name. */
  boolean isName(int ordinal, byte[] name, int from, int length) {
    return page(ordinal).isName(ordinal & (PAGE - 1), name, from, length);
  }

  /** Gives a new name an ordinal. */
  public int add(String name) {
    int ordinal = freeCount > 0 ? free[freeCount - 1] : size;
    define(ordinal, name);
    if (freeCount > 0) {
      freeCount--; // after all that may fail
    }
    return ordinal;
  }

  /**
   * Gives an ordinal a name, as a record of the log says. The state may come from a later moment:
   * it may know another name of the ordinal, or another ordinal of the name. Both were made free
   * later, by records that follow.
   */
  void redefine(int ordinal, String name) {
    if (ordinal < size && name.equals(name(ordinal))) {
      return;
    }
    if (ordinal < size && name(ordinal) != null) {
      forget(ordinal);
    }
    int other = find(name);
    if (other >= 0) {
      forget(other);
    }
    define(ordinal, name);
  }

  private void define(int ordinal, String name) {
    reach(ordinal);
    page(ordinal).name(ordinal & (PAGE - 1), name);
    index.put(name, ordinal);
    named++;
    memoryBytes += memoryBytes(name);
  }

  /**
   * Forgets a counter wholly, so that its ordinal and its name are free for others.
   *
   * @throws IllegalStateException if it is free: two counters would get one ordinal
   */
  public void free(int ordinal) {
    if (name(ordinal) == null) {
      throw new IllegalStateException("ordinal " + ordinal + " is free already");
    }
    reserveFree(); // before anything changes
    forget(ordinal);
    free[freeCount++] = ordinal;
  }

  private void reserveFree() {
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, 2 * free.length);
    }
  }

  void forget(int ordinal) {
    String name = name(ordinal);
    remove(ordinal);
    CounterTablePage page = page(ordinal);
    page.states[ordinal & (PAGE - 1)] &= CounterTablePage.VERSIONED;
    if (name != null) {
      index.remove(name, ordinal);
      page.forget(ordinal & (PAGE - 1));
      named--;
      memoryBytes -= memoryBytes(name);
    }
  }

  /** Finds the ordinals that are free, when a state was read; those that are kept back are not. */
  void findFree(IntPredicate isKeptBack) {
    freeCount = 0;
    for (int ordinal = size - 1; ordinal >= 0; ordinal--) {
      if (name(ordinal) == null && !isKeptBack.test(ordinal)) {
        reserveFree();
        free[freeCount++] = ordinal;
      }
    }
  }

  /** Makes sure that there is a place for an ordinal, named or not. */
  void reach(int ordinal) {
    while (pages.length << PAGE_BITS <= ordinal) {
      CounterTablePage page = new CounterTablePage();
      pages = Arrays.copyOf(pages, pages.length + 1);
      pages[pages.length - 1] = page;
    }
    size = Math.max(size, ordinal + 1);
  }

  private CounterTablePage page(int ordinal) {
    return pages[ordinal >>> PAGE_BITS];
  }

  private short state(int ordinal) {
    return page(ordinal).states[ordinal & (PAGE - 1)];
  }

  private void mark(int ordinal, short bits) {
    page(ordinal).states[ordinal & (PAGE - 1)] |= bits;
  }

  private void unmark(int ordinal, int bits) {
    page(ordinal).states[ordinal & (PAGE - 1)] &= (short) ~bits;
  }

  /** The name of an ordinal; null if it is free. */
  public @Nullable String name(int ordinal) {
    return page(ordinal).names[ordinal & (PAGE - 1)];
  }

  /** The value; 0 if never written, and of a text. */
  public long value(int ordinal) {
    return page(ordinal).values[ordinal & (PAGE - 1)];
  }

  /** Whether the counter was ever added to; one that was not may have a canceled request. */
  public boolean isWritten(int ordinal) {
    return (state(ordinal) & CounterTablePage.WRITTEN) != 0;
  }

  public void set(int ordinal, long value) {
    CounterTablePage page = page(ordinal);
    page.values[ordinal & (PAGE - 1)] = value;
    short state = page.states[ordinal & (PAGE - 1)];
    if ((state & (CounterTablePage.WRITTEN | CounterTablePage.TEXT | CounterTablePage.VERSIONED))
        != CounterTablePage.WRITTEN) { // nearly never
      dropText(ordinal);
      wrote(ordinal);
    }
  }

  private void wrote(int ordinal) {
    changed(ordinal);
    if (!isWritten(ordinal)) {
      mark(ordinal, CounterTablePage.WRITTEN);
      String name = name(ordinal);
      if (name != null) { // else it is made free by a record that follows
        sorted.put(name, ordinal);
      }
    }
  }

  private void dropText(int ordinal) {
    if ((state(ordinal) & CounterTablePage.TEXT) != 0) {
      byte[] gone = texts.remove(ordinal);
      memoryBytes -= gone == null ? 0 : memoryBytes(gone);
      unmark(ordinal, CounterTablePage.TEXT);
    }
  }

  private void changed(int ordinal) {
    long[] versions = page(ordinal).versions;
    if (versions != null) {
      versions[ordinal & (PAGE - 1)] = ++lastVersion;
    }
  }

  /** Has an ordinal hold a text and no number. */
  public void setText(int ordinal, byte[] text) {
    dropText(ordinal);
    page(ordinal).values[ordinal & (PAGE - 1)] = 0;
    texts.put(ordinal, text);
    memoryBytes += memoryBytes(text);
    mark(ordinal, CounterTablePage.TEXT);
    wrote(ordinal);
  }

  /** The text; null if there is none, as usual. */
  public byte @Nullable [] text(int ordinal) {
    return (state(ordinal) & CounterTablePage.TEXT) == 0 ? null : texts.get(ordinal);
  }

  /** Whether any ordinal holds a text. */
  boolean hasTexts() {
    return !texts.isEmpty();
  }

  /** Lets versions start above those of earlier runs. */
  public void startVersions(long first) {
    lastVersion = first;
  }

  /** A number that is another one after every change. */
  public long version(int ordinal) {
    CounterTablePage page = page(ordinal);
    long[] versions = page.versions;
    if (versions == null) {
      versions = new long[PAGE];
      Arrays.fill(versions, ++lastVersion);
      page.versions = versions;
      for (int i = 0; i < PAGE; i++) {
        page.states[i] |= CounterTablePage.VERSIONED;
      }
    }
    return versions[ordinal & (PAGE - 1)];
  }

  /** What an ordinal holds; null if it is free. */
  public @Nullable Content content(int ordinal, RequestIds ids) {
    String name = name(ordinal);
    return name == null ? null : new Content(this, ordinal, name, ids.isLive(epochOfIds(ordinal)));
  }

  /** When the counter expires, in milliseconds since 1970; 0 for never. */
  public long expiresAt(int ordinal) {
    long[] expiries = page(ordinal).expiries;
    return expiries == null ? 0 : expiries[ordinal & (PAGE - 1)];
  }

  /** Whether the counter was written, and has not expired. */
  public boolean isAlive(int ordinal, long nowMillis) {
    short state = state(ordinal);
    return (state & (CounterTablePage.WRITTEN | CounterTablePage.EXPIRES))
            == CounterTablePage.WRITTEN // nearly always
        || ((state & CounterTablePage.WRITTEN) != 0 && expiresAt(ordinal) > nowMillis);
  }

  /** Sets when the counter expires; 0 for never. */
  public void expire(int ordinal, long atMillis) {
    CounterTablePage page = page(ordinal);
    long[] expiries = page.expiries;
    if (expiries == null) {
      if (atMillis == 0) {
        return;
      }
      expiries = new long[PAGE];
      page.expiries = expiries;
      memoryBytes += (long) PAGE * Long.BYTES;
    }
    expiries[ordinal & (PAGE - 1)] = atMillis;
    if (atMillis == 0) {
      unmark(ordinal, CounterTablePage.EXPIRES);
    } else {
      mark(ordinal, CounterTablePage.EXPIRES);
      page.nextExpiryMillis = Math.min(page.nextExpiryMillis, atMillis);
      nextExpiryMillis = Math.min(nextExpiryMillis, atMillis);
    }
  }

  /** Whether a counter may have expired that is still there. */
  public boolean hasExpired(long nowMillis) {
    return nextExpiryMillis <= nowMillis;
  }

  /**
   * Finds counters that have expired and are still there.
   *
   * @param found takes their ordinals, which the caller removes
   * @param max the most to find
   * @return how many were found
   */
  public int findExpired(long nowMillis, int[] found, int max) {
    int count = 0;
    long next = Long.MAX_VALUE;
    for (int number = 0; number < pages.length; number++) {
      CounterTablePage page = pages[number];
      if (page.nextExpiryMillis <= nowMillis) {
        count = page.findExpired(number << PAGE_BITS, nowMillis, found, count, max);
      }
      next = Math.min(next, page.nextExpiryMillis);
      if (count >= max) {
        return count; // there may be more
      }
    }
    nextExpiryMillis = next;
    return count;
  }

  /** Counters that have expired and are still there. */
  public int expiredSize(long nowMillis) {
    int count = 0;
    for (CounterTablePage page : pages) {
      long[] expiries = page.expiries;
      for (int i = 0; expiries != null && page.nextExpiryMillis <= nowMillis && i < PAGE; i++) {
        boolean expires =
            (page.states[i] & (CounterTablePage.WRITTEN | CounterTablePage.EXPIRES))
                == (CounterTablePage.WRITTEN | CounterTablePage.EXPIRES);
        count += expires && expiries[i] <= nowMillis ? 1 : 0;
      }
    }
    return count;
  }

  /** Notes that a counter has a request id in the generation with this epoch, 1 to 255. */
  public void markIds(int ordinal, int epoch) {
    reach(ordinal);
    short[] states = page(ordinal).states;
    int at = ordinal & (PAGE - 1);
    if (((states[at] >>> CounterTablePage.EPOCH_SHIFT) & CounterTablePage.FLAGS) != epoch) {
      int flags = states[at] & CounterTablePage.FLAGS;
      states[at] = (short) (flags | (epoch << CounterTablePage.EPOCH_SHIFT));
    }
  }

  /** Returns the epoch of the generation that has its newest request id; 0 if it never had one. */
  public int epochOfIds(int ordinal) {
    return (state(ordinal) >>> CounterTablePage.EPOCH_SHIFT) & CounterTablePage.FLAGS;
  }

  /** Marks a counter as one that waits in {@link Tombstones}; whether it did not before. */
  boolean markTombstone(int ordinal) {
    boolean isNew = !isTombstone(ordinal);
    mark(ordinal, CounterTablePage.TOMBSTONE);
    return isNew;
  }

  public boolean isTombstone(int ordinal) {
    return (state(ordinal) & CounterTablePage.TOMBSTONE) != 0;
  }

  /** Ends that. */
  void unmarkTombstone(int ordinal) {
    unmark(ordinal, CounterTablePage.TOMBSTONE);
  }

  /** Makes the counter as one that was never written; its name keeps the ordinal. */
  public void remove(int ordinal) {
    if (isWritten(ordinal)) {
      page(ordinal).values[ordinal & (PAGE - 1)] = 0;
      dropText(ordinal);
      unmark(ordinal, CounterTablePage.WRITTEN);
      String name = name(ordinal);
      if (name != null) {
        sorted.remove(name, ordinal);
      }
      changed(ordinal);
    }
    expire(ordinal, 0);
  }

  /** Marks an ordinal as one whose value goes into the frame; whether it was not marked before. */
  public boolean markDirty(int ordinal) {
    short[] states = page(ordinal).states;
    short state = states[ordinal & (PAGE - 1)];
    states[ordinal & (PAGE - 1)] = (short) (state | CounterTablePage.DIRTY);
    return (state & CounterTablePage.DIRTY) == 0;
  }

  /** Ends that. */
  public void unmarkDirty(int ordinal) {
    unmark(ordinal, CounterTablePage.DIRTY);
  }

  /** Counters that were written, by name, from the first name that is not before {@code from}. */
  public Map<String, Integer> from(String from, boolean inclusive) {
    return sorted.tailMap(from, inclusive);
  }

  /** Counters that were written. */
  public int writtenSize() {
    return sorted.size();
  }
}
