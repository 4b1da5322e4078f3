package dev.quipu.engine.ids;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * Sealed request ids. Thread-safe.
 *
 * <pre>{@code
 * ID FILE: request ids that were sealed to disk. Written once, never changed, deleted as a whole
 * when its newest id has left the window, or when a merged file has its ids (see IdMerge).
 *
 *   head     one page: magic, format, entries, pages, filter blocks, oldest and newest time, first
 *            and last frame of the log whose ids these are, CRC32C of fences and filter, CRC32C of
 *            this head
 *   pages    of 4 KiB: CRC32C, count, then entries in order of hash: about 180, see PackedEntry; in
 *            files before format 4 of the directory, up to 102 of 40 bytes
 *   fences   the hash of the first entry of each page
 *   filter   see IdFilter; in files before format 6, the blocks are not in order of the hashes
 *
 * The file is memory-mapped: a lookup needs no heap, and pages that are never read need no memory.
 * The CRC32C of a page is checked at every access, for a damaged page must not report an id as
 * absent, which would count a request twice.
 * }</pre>
 */
public final class IdFile {
  static final long MAGIC = 0x5155495055494435L; // "QUIPUID5"
  private static final long MAGIC_DELTAS = 0x5155495055494434L; // "QUIPUID4"
  private static final long MAGIC_UNPACKED = 0x5155495055494432L; // "QUIPUID2"
  static final int PAGE = 4_096;
  static final int PAGE_HEAD = 8;
  private static final int UNPACKED_BYTES = IdTable.STRIDE * Long.BYTES;
  static final int HEAD_CRC = 60;

  private final Path path;
  private final ByteBuffer bytes;
  private final int entries;
  private final int pages;
  private final IdFilter filter;
  private final long newestMillis;
  private final boolean isPacked;
  private final boolean isCurrent; // whether packed as they are now
  private int[] epochs = {};
  private int index = IdIndexes.NONE;

  private IdFile(Path path, ByteBuffer bytes) {
    this.path = path;
    this.bytes = bytes;
    this.entries = bytes.getInt(12);
    this.pages = bytes.getInt(16);
    this.newestMillis = bytes.getLong(32);
    long magic = bytes.getLong(0);
    this.isPacked = magic != MAGIC_UNPACKED;
    this.isCurrent = magic == MAGIC;
    int start = filterStart();
    boolean isOrdered = isCurrent || magic == MAGIC_DELTAS;
    this.filter = new IdFilter(bytes.slice(start, bytes.limit() - start), isOrdered);
  }

  public Path path() {
    return path;
  }

  /** Sets the epochs of its generations; see {@link RequestIds#isLive}. */
  void setEpochs(int... numbers) {
    epochs = numbers;
  }

  /** Returns the epochs of its generations, of which a merged file has several. */
  int[] epochs() {
    return epochs;
  }

  /** Sets the number of the first index of those that have its ids. */
  void setIndex(int number) {
    index = number;
  }

  /** Returns the number of the first index of those that have its ids. */
  int index() {
    return index;
  }

  public int entries() {
    return entries;
  }

  long oldestMillis() {
    return bytes.getLong(24);
  }

  public long newestMillis() {
    return newestMillis;
  }

  public long firstFrame() {
    return bytes.getLong(40);
  }

  public long lastFrame() {
    return bytes.getLong(48);
  }

  /** Writes a table to a new file. Returns when the file is durable under its name. */
  public static void write(Disk disk, Path path, IdTable table) throws IOException {
    try (IdFileWriter file = new IdFileWriter(disk, path, table.size())) {
      IdSorter sorter = new IdSorter(table.largestPart());
      for (int part = 0; part < IdTable.PARTS; part++) { // which are in order of hash
        int count = sorter.sort(table, part);
        for (int i = 0; i < count; i++) {
          table.addTo(file, part, sorter.slot(i), sorter.hash(i));
        }
      }
      file.end(table.oldestMillis(), table.newestMillis(), table.firstFrame(), table.lastFrame());
    }
  }

  /**
   * Opens a file.
   *
   * @throws DamageException if it is missing or its header, fences or filter are damaged
   */
  public static IdFile open(Disk disk, Path path) throws IOException {
    if (!disk.exists(path)) {
      throw new DamageException(Damage.ID_FILE, path, 0, "the file is missing");
    }
    long size = disk.size(path);
    if (size < PAGE) {
      throw new DamageException(Damage.ID_FILE, path, size, "the header is truncated");
    }
    ByteBuffer bytes = disk.map(path);
    long magic = bytes.getLong(0);
    boolean isKnown = MAGIC_UNPACKED <= magic && magic <= MAGIC; // with 2 to 5
    if (!isKnown || bytes.getInt(HEAD_CRC) != crc(bytes.slice(0, HEAD_CRC))) {
      throw new DamageException(Damage.ID_FILE, path, 0, "the header is damaged");
    }
    int pages = bytes.getInt(16);
    long tail = (long) PAGE * (pages + 1);
    long filterBytes = (long) bytes.getInt(20) * IdFilter.BLOCK_BYTES;
    if (tail + (long) pages * Long.BYTES + filterBytes != size) {
      throw new DamageException(
          Damage.ID_FILE, path, size, "the file length does not match its header");
    }
    IdFile opened = new IdFile(path, bytes);
    if (bytes.getInt(56) != crc(bytes.slice((int) tail, (int) (size - tail)))) {
      throw new DamageException(Damage.ID_FILE, path, tail, "fences or filter are damaged");
    }
    return opened;
  }

  /**
   * Copies the entry of an id to {@code entry}; returns false if there is none.
   *
   * @throws DamageException if the page that would hold it is damaged
   */
  boolean find(long hash, long high, long low, int ordinal, long[] entry) {
    if (!filter.mayHold(hash)) {
      return false;
    }
    for (int page = pageOf(hash); page >= 0 && page < pages; page++) {
      if (Long.compareUnsigned(fence(page), hash) > 0) {
        return false;
      }
      if (findIn(page, high, low, ordinal, entry)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the filter, which a lookup reads first. */
  IdFilter filter() {
    return filter;
  }

  /**
   * Verifies every page.
   *
   * @throws DamageException at the first damaged page
   */
  public void verify() {
    for (int page = 0; page < pages; page++) {
      check(page);
    }
  }

  /**
   * Passes on all entries.
   *
   * @throws DamageException at the first damaged page
   */
  void forEach(Consumer<long[]> action) {
    for (int page = 0; page < pages; page++) {
      int at = firstEntry(page);
      for (int i = entries(page); i > 0; i--) {
        long[] entry = new long[IdTable.STRIDE];
        copy(at, entry, 0);
        action.accept(entry);
        at += entryBytes(at);
      }
    }
  }

  /** Returns the number of pages. */
  int pages() {
    return pages;
  }

  /** Returns the number of entries of a page. */
  int entries(int page) {
    return bytes.getInt(PAGE * (page + 1) + 4);
  }

  /**
   * Returns the place of the first entry of a page.
   *
   * @throws DamageException if the page is damaged
   */
  int firstEntry(int page) {
    return check(page) + PAGE_HEAD;
  }

  /** Returns the size of the entry at a place: the next one of its page follows it. */
  int entryBytes(int at) {
    if (isCurrent) {
      return PackedEntry.bytes(bytes, at);
    }
    return isPacked ? PackedEntry.bytesBefore(bytes, at) : UNPACKED_BYTES;
  }

  /** Returns the upper half of the id of the entry at a place. */
  long high(int at) {
    return bytes.getLong(isPacked ? at + 1 : at);
  }

  /** Returns the lower half of the id of the entry at a place. */
  long low(int at) {
    return bytes.getLong((isPacked ? at + 1 : at) + Long.BYTES);
  }

  /** Returns the ordinal of the counter of the entry at a place. */
  int ordinal(int at) {
    return isPacked
        ? PackedEntry.ordinal(bytes, at)
        : IdTable.ordinal(bytes.getLong(at + 2 * Long.BYTES));
  }

  /** Returns whether entries can be copied to another file as they are. */
  boolean isCurrent() {
    return isCurrent;
  }

  /** Returns the content, of which entries are copied. */
  ByteBuffer bytes() {
    return bytes;
  }

  /** Packs the entry at a place. */
  void repack(int at, ByteBuffer out) {
    long[] entry = new long[IdTable.STRIDE];
    copy(at, entry, 0);
    PackedEntry.put(out, entry, 0);
  }

  private void copy(int at, long[] to, int toAt) {
    if (isCurrent) {
      PackedEntry.get(bytes, at, to, toAt);
      return;
    }
    if (isPacked) {
      PackedEntry.getBefore(bytes, at, to, toAt);
      return;
    }
    for (int part = 0; part < IdTable.STRIDE; part++) {
      to[toAt + part] = bytes.getLong(at + part * Long.BYTES);
    }
  }

  /**
   * Returns the page that can hold the hash: the last one that starts below it, or the first. The
   * search begins where it would be if hashes were evenly spread, which is mostly a few pages off.
   */
  private int pageOf(long hash) {
    int low = (int) (((hash >>> Integer.SIZE) * pages) >>> Integer.SIZE);
    int high = low;
    int step = 1;
    while (low > 0 && Long.compareUnsigned(fence(low), hash) >= 0) {
      high = low - 1;
      low = Math.max(0, low - step);
      step *= 2;
    }
    if (step == 1) {
      while (high < pages - 1 && Long.compareUnsigned(fence(high + 1), hash) < 0) {
        low = high + 1;
        high = Math.min(pages - 1, high + step);
        step *= 2;
      }
    }
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (Long.compareUnsigned(fence(middle), hash) < 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  private boolean findIn(int page, long high, long low, int ordinal, long[] entry) {
    int at = firstEntry(page);
    int count = entries(page);
    int head = isPacked ? 1 : 0; // before the id
    for (int i = 0; i < count; i++) {
      if (bytes.getLong(at + head) == high && bytes.getLong(at + head + Long.BYTES) == low) {
        copy(at, entry, 0);
        if (IdTable.ordinal(entry[2]) == ordinal) {
          return true;
        }
      }
      at += entryBytes(at);
    }
    return false;
  }

  private int check(int page) {
    int start = PAGE * (page + 1);
    if (bytes.getInt(start) != crc(bytes.slice(start + 4, PAGE - 4))) {
      throw new DamageException(Damage.ID_FILE, path, start, "page " + page + " is damaged");
    }
    return start;
  }

  private long fence(int page) {
    return bytes.getLong(PAGE * (pages + 1) + page * Long.BYTES);
  }

  private int filterStart() {
    return PAGE * (pages + 1) + pages * Long.BYTES;
  }

  static int crc(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
