package dev.quipu.engine.state;

import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.ids.Secret;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.PrimitiveIterator;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Names and values of all counters. Not thread-safe.
 *
 * <pre>{@code
 * Each counter has an ordinal. Names and values are stored in pages by ordinal, so that growing the
 * table moves nothing. Names are found through an index; listings read the ordinals in order of
 * their names. A counter has no object of its own: a name of 16 letters takes about 50 bytes in
 * all, and no array is larger than a few hundred KB, which G1 would place in regions of their own.
 *
 * A removed counter keeps its name and ordinal as a tombstone while request ids refer to them: see
 * Tombstones. After that both may be reused.
 *
 * An ordinal may hold a text instead of a number, of those few that clients keep beside counters.
 *
 * Versions show whether a counter changed since it was read. They are allocated at the first read
 * of a page, and are not kept on disk: they start at a number that no earlier run has reached.
 * }</pre>
 */
public final class CounterTable {
  private static final int PAGE = CounterTablePage.SIZE;

  private final NameIndex index;
  private final CounterPages pages = new CounterPages();
  private final Map<Integer, byte[]> texts = new HashMap<>();
  private long lastVersion;
  private final NameOrder order = new NameOrder(pages);
  private int written;
  private int size;
  private int named;
  private int[] free = new int[16]; // free ordinals below size
  private int freeCount;
  private long memoryBytes;

  public final Followers followers = new Followers();

  /** Finds expired counters. */
  public final CounterExpiries expired = new CounterExpiries(pages);

  CounterTable(Secret secret) {
    this.index = new NameIndex(secret);
  }

  Lookahead lookahead() {
    return new Lookahead(index, pages);
  }

  /** Returns the exclusive upper bound of all ordinals. */
  public int size() {
    return size;
  }

  /** Returns the number of ordinals with a name: counters and tombstones. */
  public int named() {
    return named;
  }

  /** Returns the estimated heap of counters, texts, tombstones and free ordinals, in bytes. */
  long memoryBytes() {
    return memoryBytes + (long) CounterMemory.LEFT * (size - named);
  }

  /**
   * Returns the heap that a new counter needs in addition, in bytes.
   *
   * @param before number of new counters that are added before it
   */
  public long neededBytes(String name, int before) {
    return CounterMemory.of(name) - (before < freeCount ? CounterMemory.LEFT : 0);
  }

  /** Returns the ordinal of a name; -1 if it has none. */
  public int find(String name) {
    return index.find(name, pages);
  }

  /**
   * Returns the ordinal of an ASCII name without control characters; -1 if it has none, and for any
   * other name.
   */
  public int find(byte[] name, int from, int length) {
    if (length < 1) {
      return -1;
    }
    for (int i = from; i < from + length; i++) {
      if (name[i] < ' ') { // above 0x7f it is negative
        return -1;
      }
    }
    return index.find(name, from, length, pages);
  }

  /** Assigns an ordinal to a new name. */
  public int add(String name) {
    int ordinal = freeCount > 0 ? free[freeCount - 1] : size;
    define(ordinal, name);
    if (freeCount > 0) {
      freeCount--; // after everything that may fail
    }
    return ordinal;
  }

  /**
   * Assigns a name to an ordinal, as a log record states. The state may be newer than the record:
   * the ordinal may have another name, or the name another ordinal. Both are freed by later
   * records.
   */
  void redefine(int ordinal, String name) {
    if (ordinal < size && pages.isName(ordinal, name)) {
      return;
    }
    if (ordinal < size && hasName(ordinal)) {
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
    memoryBytes += CounterMemory.of(name);
  }

  /**
   * Forgets a counter, so that its ordinal and its name can be reused.
   *
   * @throws IllegalStateException if it is already free: two counters would get the same ordinal
   */
  public void free(int ordinal) {
    if (!hasName(ordinal)) {
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
    page.unmark(ordinal & (PAGE - 1), CounterTablePage.OWN);
    page.epoch(ordinal & (PAGE - 1), 0);
    if (name != null) {
      followers.forgotten(ordinal, name);
      index.remove(name, ordinal);
      page.forgetName(ordinal & (PAGE - 1));
      named--;
      memoryBytes -= CounterMemory.of(name);
    }
  }

  /**
   * Finds the free ordinals after recovery, except those that are reserved.
   *
   * @param unwritten receives the ordinals with a name that are not written
   */
  void findFree(IntPredicate isKeptBack, IntConsumer unwritten) {
    BitSet incomplete = pages.incomplete(); // mostly none, or the last one
    freeCount = 0;
    for (int ordinal = size - 1; ordinal >= 0; ordinal--) {
      if (ordinal % PAGE == PAGE - 1 && !incomplete.get(ordinal / PAGE)) {
        ordinal -= PAGE - 1;
      } else if (hasName(ordinal) && !isWritten(ordinal)) {
        unwritten.accept(ordinal);
      } else if (!hasName(ordinal) && !isKeptBack.test(ordinal)) {
        reserveFree();
        free[freeCount++] = ordinal;
      }
    }
  }

  /** Ensures that the table has a slot for an ordinal, named or not. */
  void reach(int ordinal) {
    pages.reach(ordinal);
    size = Math.max(size, ordinal + 1);
  }

  private CounterTablePage page(int ordinal) {
    return pages.of(ordinal);
  }

  private boolean is(int ordinal, int flag) {
    return page(ordinal).is(ordinal & (PAGE - 1), flag);
  }

  private void mark(int ordinal, int flag) {
    page(ordinal).mark(ordinal & (PAGE - 1), flag);
  }

  private void unmark(int ordinal, int flag) {
    page(ordinal).unmark(ordinal & (PAGE - 1), flag);
  }

  /** Returns whether an ordinal has a name, and so is not free. */
  public boolean hasName(int ordinal) {
    return pages.hasName(ordinal);
  }

  /** Returns the name of an ordinal; null if it is free. */
  public @Nullable String name(int ordinal) {
    return pages.name(ordinal);
  }

  /** Returns the value; 0 if it was never written or holds a text. */
  public long value(int ordinal) {
    return page(ordinal).value(ordinal & (PAGE - 1));
  }

  /** Returns the number of digits after the point of the values; kept when they are removed. */
  public int scale(int ordinal) {
    byte[] scales = page(ordinal).scales;
    return isScaled(ordinal) && scales != null ? scales[ordinal & (PAGE - 1)] : 0;
  }

  public boolean isScaled(int ordinal) {
    return is(ordinal, CounterTablePage.SCALED);
  }

  public void scale(int ordinal, int scale) {
    memoryBytes += page(ordinal).scale(ordinal & (PAGE - 1), scale);
  }

  /** Returns whether the counter was ever written; one that was not may have a canceled request. */
  public boolean isWritten(int ordinal) {
    return is(ordinal, CounterTablePage.WRITTEN);
  }

  public void set(int ordinal, long value) {
    CounterTablePage page = page(ordinal);
    followers.changing(this, ordinal, page.value(ordinal & (PAGE - 1)), value);
    page.value(ordinal & (PAGE - 1), value);
    int usual = CounterTablePage.WRITTEN | CounterTablePage.CHANGED;
    int flags = usual | CounterTablePage.TEXT | CounterTablePage.VERSIONED;
    if (page.flags(ordinal & (PAGE - 1), flags) != usual) { // almost never
      dropText(ordinal);
      wrote(ordinal);
    }
  }

  private void wrote(int ordinal) {
    page(ordinal).change(ordinal & (PAGE - 1));
    changed(ordinal);
    if (!isWritten(ordinal)) {
      mark(ordinal, CounterTablePage.WRITTEN);
      if (hasName(ordinal)) { // otherwise a later record frees it
        written++;
        order.add(ordinal);
      }
    }
  }

  private void dropText(int ordinal) {
    if (is(ordinal, CounterTablePage.TEXT)) {
      byte[] gone = texts.remove(ordinal);
      memoryBytes -= gone == null ? 0 : CounterMemory.of(gone);
      unmark(ordinal, CounterTablePage.TEXT);
    }
  }

  private void changed(int ordinal) {
    long[] versions = page(ordinal).versions;
    if (versions != null) {
      versions[ordinal & (PAGE - 1)] = ++lastVersion;
    }
  }

  /** Stores a text in an ordinal, replacing its number. */
  public void setText(int ordinal, byte[] text) {
    followers.changing(this, ordinal);
    dropText(ordinal);
    page(ordinal).value(ordinal & (PAGE - 1), 0);
    texts.put(ordinal, text);
    memoryBytes += CounterMemory.of(text);
    mark(ordinal, CounterTablePage.TEXT);
    wrote(ordinal);
  }

  /** Returns the text; null if there is none, the common case. */
  public byte @Nullable [] text(int ordinal) {
    return is(ordinal, CounterTablePage.TEXT) ? texts.get(ordinal) : null;
  }

  /** Returns whether any ordinal holds a text. */
  boolean hasTexts() {
    return !texts.isEmpty();
  }

  /** Makes versions start above those of earlier runs. */
  public void startVersions(long first) {
    lastVersion = first;
  }

  /** Returns a number that differs after every change. */
  public long version(int ordinal) {
    CounterTablePage page = page(ordinal);
    long[] versions = page.versions;
    if (versions == null) {
      versions = new long[PAGE];
      Arrays.fill(versions, ++lastVersion);
      page.versions = versions;
      for (int i = 0; i < PAGE; i++) {
        page.mark(i, CounterTablePage.VERSIONED);
      }
    }
    return versions[ordinal & (PAGE - 1)];
  }

  /** Returns the content of an ordinal; null if it is free. */
  public @Nullable CounterContent content(int ordinal, RequestIds ids) {
    String name = name(ordinal);
    return name == null
        ? null
        : new CounterContent(this, ordinal, name, ids.isLive(epochOfIds(ordinal)));
  }

  /** Returns when the counter expires, in milliseconds since 1970; 0 for never. */
  public long expiresAt(int ordinal) {
    long[] expiries = page(ordinal).expiries;
    return expiries == null ? 0 : expiries[ordinal & (PAGE - 1)];
  }

  /** Returns whether the counter was written and has not expired. */
  public boolean isAlive(int ordinal, long nowMillis) {
    int both = CounterTablePage.WRITTEN | CounterTablePage.EXPIRES;
    int flags = page(ordinal).flags(ordinal & (PAGE - 1), both);
    return flags == CounterTablePage.WRITTEN // the common case
        || (flags == both && expiresAt(ordinal) > nowMillis);
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
    page.change(ordinal & (PAGE - 1));
    if (atMillis == 0) {
      unmark(ordinal, CounterTablePage.EXPIRES);
    } else {
      mark(ordinal, CounterTablePage.EXPIRES);
      expired.add(page, atMillis);
    }
  }

  /** Records that a counter has a request id in the generation with this epoch, 1 to 255. */
  public void markIds(int ordinal, int epoch) {
    reach(ordinal);
    page(ordinal).epoch(ordinal & (PAGE - 1), epoch);
  }

  /** Returns the epoch of the generation with its newest request id; 0 if it never had one. */
  public int epochOfIds(int ordinal) {
    return page(ordinal).epoch(ordinal & (PAGE - 1));
  }

  /** Marks a counter as waiting in {@link Tombstones}; returns whether it was not marked before. */
  boolean markTombstone(int ordinal) {
    boolean isNew = !isTombstone(ordinal);
    mark(ordinal, CounterTablePage.TOMBSTONE);
    return isNew;
  }

  public boolean isTombstone(int ordinal) {
    return is(ordinal, CounterTablePage.TOMBSTONE);
  }

  /** Clears the mark of {@link #markTombstone}. */
  void unmarkTombstone(int ordinal) {
    unmark(ordinal, CounterTablePage.TOMBSTONE);
  }

  /** Resets the counter to one that was never written; its name keeps the ordinal. */
  public void remove(int ordinal) {
    if (isWritten(ordinal)) {
      followers.changing(this, ordinal);
      page(ordinal).value(ordinal & (PAGE - 1), 0);
      dropText(ordinal);
      unmark(ordinal, CounterTablePage.WRITTEN);
      page(ordinal).change(ordinal & (PAGE - 1));
      if (hasName(ordinal)) {
        written--;
        order.remove(ordinal);
      }
      changed(ordinal);
    }
    expire(ordinal, 0);
  }

  /**
   * Marks an ordinal as one whose value must be written to the frame; returns whether it was not
   * marked before.
   */
  public boolean markDirty(int ordinal) {
    boolean isNew = !is(ordinal, CounterTablePage.DIRTY);
    mark(ordinal, CounterTablePage.DIRTY);
    return isNew;
  }

  /** Clears the mark of {@link #markDirty}. */
  public void unmarkDirty(int ordinal) {
    unmark(ordinal, CounterTablePage.DIRTY);
  }

  /** Sorts the names, after which they are kept in order: sooner, each would be sorted alone. */
  void sort() {
    order.complete(size, written, this::isListed);
  }

  private boolean isListed(int ordinal) {
    return ordinal < size && isWritten(ordinal) && hasName(ordinal);
  }

  /** Returns written counters by name, starting at {@code from}. Valid until the next change. */
  public PrimitiveIterator.OfInt from(String from, boolean inclusive) {
    sort();
    return order.from(from, inclusive);
  }

  /** Returns what a snapshot copies. */
  public CounterImages images() {
    return new CounterImages(this, pages);
  }

  /** Returns what fills this empty table from a snapshot. */
  public CounterLoader loader() {
    return new CounterLoader(this, pages, index, order);
  }

  /** Adds a page of a snapshot, whose names are not in the index yet. */
  void load(int number, CounterTablePage page, PageImage.Summary summary) {
    pages.put(number, page);
    if (summary.named() > 0) {
      size = number * PAGE + summary.end();
    }
    named += summary.named();
    written += summary.written();
    memoryBytes += summary.memoryBytes();
  }

  /** Adds the name of an ordinal to the index; another ordinal with this name is forgotten. */
  void replaceOlder(int ordinal) {
    String name = Objects.requireNonNull(name(ordinal));
    forget(find(name));
    index.put(name, ordinal);
  }

  /** Returns the number of written counters. */
  public int writtenSize() {
    return written;
  }
}
