package dev.quipu.engine.ids;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Request ids in memory. Not thread-safe.
 *
 * <pre>{@code
 * Five longs per entry, all in one array, so that a lookup touches one or two cache lines:
 *   high, low          the request id
 *   meta               bounds mark << 32 | ordinal of the counter << 2 | kind; never 0
 *   delta, value       the added delta, and the resulting value
 * Open addressing in many parts that grow independently, each by a quarter, so that none is large
 * or half empty. Parts fill evenly, so load limits differ, from 0.7 to 0.8, to keep them from
 * growing at the same moment. Hashes are keyed: see Secret.
 * }</pre>
 */
public final class IdTable {
  public static final int STRIDE = 5;
  public static final int APPLIED = 1;
  public static final int CANCELED = 2;
  private static final int PART_BITS = 9;
  static final int PARTS = 1 << PART_BITS;
  private static final int PART_SLOTS_FIRST = 8;

  private final Secret secret;
  private final long[][] parts = new long[PARTS][PART_SLOTS_FIRST * STRIDE];
  private final int[] used = new int[PARTS];
  private int size;
  private long oldestMillis = Long.MAX_VALUE;
  private long newestMillis = Long.MIN_VALUE;
  private long firstFrame;
  private long lastFrame;
  private int epoch;
  private int index;

  public IdTable(Secret secret) {
    this.secret = secret;
  }

  /** Begins a generation; see {@link RequestIds#isLive} and {@link IdIndexes}. */
  void begin(int epochOfAll, int indexOfAll) {
    epoch = epochOfAll;
    index = indexOfAll;
  }

  int epoch() {
    return epoch;
  }

  /** Returns the number of the index that has its ids. */
  int index() {
    return index;
  }

  /** Returns the key of the hashes by which entries are found, and sorted when sealed. */
  Secret secret() {
    return secret;
  }

  int size() {
    return size;
  }

  /** Returns when the first id was added; {@link Long#MAX_VALUE} while empty. */
  long oldestMillis() {
    return oldestMillis;
  }

  /** Returns when the last id was added; {@link Long#MIN_VALUE} while empty. */
  long newestMillis() {
    return newestMillis;
  }

  /** Returns the log frame of the first id. */
  long firstFrame() {
    return firstFrame;
  }

  /** Returns the log frame of the last id. */
  public long lastFrame() {
    return lastFrame;
  }

  public static long meta(int ordinal, int kind, int boundsMark) {
    return (long) boundsMark << 32 | (long) ordinal << 2 | kind;
  }

  public static int ordinal(long meta) {
    return (int) meta >>> 2;
  }

  public static int kind(long meta) {
    return (int) meta & 3;
  }

  public static int boundsMark(long meta) {
    return (int) (meta >>> 32);
  }

  /** Prefetches the slot of an id: see {@link IdsAhead}. */
  long touch(long hash) {
    long[] part = parts[part(hash)];
    return part[home(hash, part.length / STRIDE) * STRIDE + 2];
  }

  private static int part(long hash) {
    return (int) (hash >>> (Long.SIZE - PART_BITS));
  }

  /**
   * Returns the slot where probing begins: the bits of the hash after those of the part, as a
   * fraction, so that entries are almost in order of hash, in which they are written to a file.
   */
  private static int home(long hash, int slots) {
    return (int) (((hash << PART_BITS >>> Integer.SIZE) * slots) >>> Integer.SIZE);
  }

  /** Returns the slot where probing goes on: after the last one, the first. */
  static int after(int slot, int slots) {
    return slot + 1 == slots ? 0 : slot + 1;
  }

  /** Copies the entry of an id to {@code entry}; returns false if there is none. */
  boolean find(long hash, long high, long low, int ordinal, long[] entry) {
    long[] part = parts[part(hash)];
    int slots = part.length / STRIDE;
    for (int slot = home(hash, slots); ; slot = after(slot, slots)) {
      int at = slot * STRIDE;
      long meta = part[at + 2];
      if (meta == 0) {
        return false;
      }
      if (part[at] == high && part[at + 1] == low && ordinal(meta) == ordinal) {
        System.arraycopy(part, at, entry, 0, STRIDE);
        return true;
      }
    }
  }

  /** Adds an id, replacing an equal one that was forgotten. */
  public void add(
      long high, long low, long meta, long delta, long value, long timeMillis, long frame) {
    if (size == 0) {
      firstFrame = frame;
    }
    lastFrame = frame;
    long hash = secret.hash(high, low, ordinal(meta));
    int number = part(hash);
    long slots = parts[number].length / STRIDE;
    if (used[number] * 256L >= slots * (180 + number % 32)) {
      parts[number] = grown(parts[number]);
    }
    if (put(parts[number], hash, high, low, meta, delta, value)) {
      used[number]++;
      size++;
    }
    oldestMillis = Math.min(oldestMillis, timeMillis);
    newestMillis = Math.max(newestMillis, timeMillis);
  }

  /** Returns the number of slots of a part. */
  int slots(int part) {
    return parts[part].length / STRIDE;
  }

  /** Returns the number of entries of the largest part. */
  int largestPart() {
    return Arrays.stream(used).max().orElse(0);
  }

  /**
   * Copies the entries of a part, almost in order of hash, {@link #STRIDE} longs each. All hashes
   * of a part are below those of the next.
   *
   * @return the number of entries
   */
  int entries(int part, long[] to) {
    long[] slots = parts[part];
    int end = 0;
    for (int at = 0; at < slots.length; at += STRIDE) {
      if (slots[at + 2] != 0) {
        System.arraycopy(slots, at, to, end, STRIDE);
        end += STRIDE;
      }
    }
    return end / STRIDE;
  }

  /** Passes on all entries, unordered. */
  void forEach(Consumer<long[]> action) {
    for (long[] part : parts) {
      for (int at = 0; at < part.length; at += STRIDE) {
        if (part[at + 2] != 0) {
          action.accept(Arrays.copyOfRange(part, at, at + STRIDE));
        }
      }
    }
  }

  /** Clears the table, keeping its capacity. */
  void clear() {
    for (long[] part : parts) {
      Arrays.fill(part, 0);
    }
    Arrays.fill(used, 0);
    size = 0;
    oldestMillis = Long.MAX_VALUE;
    newestMillis = Long.MIN_VALUE;
  }

  private long[] grown(long[] part) {
    int slots = part.length / STRIDE;
    long[] bigger = new long[(slots + slots / 4) * STRIDE];
    for (int at = 0; at < part.length; at += STRIDE) {
      long meta = part[at + 2];
      if (meta != 0) {
        long hash = secret.hash(part[at], part[at + 1], ordinal(meta));
        var unused = put(bigger, hash, part[at], part[at + 1], meta, part[at + 3], part[at + 4]);
      }
    }
    return bigger;
  }

  /** Puts an entry; returns whether it took a free slot. */
  private static boolean put(
      long[] part, long hash, long high, long low, long meta, long delta, long value) {
    int slots = part.length / STRIDE;
    int slot = home(hash, slots);
    int at = slot * STRIDE;
    while (part[at + 2] != 0
        && (part[at] != high || part[at + 1] != low || ordinal(part[at + 2]) != ordinal(meta))) {
      slot = after(slot, slots);
      at = slot * STRIDE;
    }
    boolean isNew = part[at + 2] == 0;
    part[at] = high;
    part[at + 1] = low;
    part[at + 2] = meta;
    part[at + 3] = delta;
    part[at + 4] = value;
    return isNew;
  }
}
