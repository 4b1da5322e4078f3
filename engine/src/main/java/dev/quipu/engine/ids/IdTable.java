package dev.quipu.engine.ids;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Request ids in memory. Not thread-safe.
 *
 * <pre>{@code
 * Outside, an entry is five longs:
 *   high, low          the request id
 *   meta               bounds mark << 32 | ordinal of the counter << 2 | kind; never 0
 *   delta, value       the added delta, and the resulting value
 * Inside, it is packed (see PackedEntry), mostly in 21 to 25 bytes, in the order in which entries
 * were added, and a slot of 4 bytes says where. A lookup of an id that is not there touches one
 * cache line, that of its slot, since the slot also has some bits of the hash.
 *
 * Open addressing in many parts that grow independently, each by a quarter, so that none is large
 * or half empty; the last time only to what a full table needs. Parts fill evenly, so load limits
 * differ, from 0.8 to 0.92, to keep them from growing at the same moment. Hashes are keyed: see
 * Secret.
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
  private final int idsMax;
  private final Part[] parts = new Part[PARTS];
  private final long[] scratch = new long[STRIDE];
  private int size;
  private long oldestMillis = Long.MAX_VALUE;
  private long newestMillis = Long.MIN_VALUE;
  private long firstFrame;
  private long lastFrame;
  private int epoch;
  private @Nullable IdIndex index;
  private int indexNumber = IdIndexes.NONE;

  /** Creates a table that is full with this number of ids. */
  public IdTable(Secret secret, int idsMax) {
    this.secret = secret;
    this.idsMax = idsMax;
    Arrays.setAll(parts, number -> new Part());
  }

  /** Begins a generation; see {@link RequestIds#isLive}. */
  void begin(int epochOfAll) {
    epoch = epochOfAll;
  }

  int epoch() {
    return epoch;
  }

  /** Sets the index that its ids get into while they are written to a file. */
  void indexIn(IdIndex chosen, int number) {
    index = chosen;
    indexNumber = number;
  }

  /** Returns the number of this index. */
  int indexNumber() {
    return indexNumber;
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
  int touch(long hash) {
    int[] slots = parts[part(hash)].slots;
    return slots[home(hash, slots.length)];
  }

  private static int part(long hash) {
    return (int) (hash >>> (Long.SIZE - PART_BITS));
  }

  /**
   * Returns the slot where probing begins: the bits of the hash after those of the part, as a
   * fraction, so that slots are almost in order of hash, in which entries are written to a file.
   */
  private static int home(long hash, int slots) {
    return (int) (((hash << PART_BITS >>> Integer.SIZE) * slots) >>> Integer.SIZE);
  }

  /** Returns the slot where probing goes on: after the last one, the first. */
  static int after(int slot, int slots) {
    return slot + 1 == slots ? 0 : slot + 1;
  }

  /**
   * Copies the entry of an id to {@code entry}; returns false if there is none, and then its
   * content is undefined.
   */
  boolean find(long hash, long high, long low, int ordinal, long[] entry) {
    Part part = parts[part(hash)];
    return part.slots[part.slot(hash, high, low, ordinal, entry)] != 0;
  }

  /** Adds an id, replacing an equal one that was forgotten. */
  public void add(
      long high, long low, long meta, long delta, long value, long timeMillis, long frame) {
    long hash = secret.hash(high, low, ordinal(meta));
    add(hash, high, low, meta, delta, value, timeMillis, frame);
  }

  /** Adds an id whose hash is known. */
  void add(
      long hash,
      long high,
      long low,
      long meta,
      long delta,
      long value,
      long timeMillis,
      long frame) {
    if (size == 0) {
      firstFrame = frame;
    }
    lastFrame = frame;
    int number = part(hash);
    Part part = parts[number];
    int slots = part.slots.length;
    if (part.used >= Math.min(slots * loadMax(number) / 256, slots - 2)) { // one is always free
      int next = slots + slots / 4;
      int enough = slots(number, idsMax);
      resize(part, slots < enough ? Math.min(next, enough) : next);
    }
    int slot = part.slot(hash, high, low, ordinal(meta), scratch);
    scratch[0] = high;
    scratch[1] = low;
    scratch[2] = meta;
    scratch[3] = delta;
    scratch[4] = value;
    int filled = part.append(scratch) | tag(hash);
    if (part.slots[slot] == 0) {
      part.used++;
      size++;
    }
    part.slots[slot] = filled;
    oldestMillis = Math.min(oldestMillis, timeMillis);
    newestMillis = Math.max(newestMillis, timeMillis);
  }

  /** Returns how many of 256 slots of a part may be used. */
  private static long loadMax(int part) {
    return 205L + part % 32;
  }

  /** Returns how many slots a part mostly needs in a table of this number of ids. */
  private static int slots(int part, int ids) {
    int most = ids / PARTS + ids / PARTS / 32 + 1;
    return (int) (most * 256L / loadMax(part)) + 1;
  }

  /** Makes room for a full table, so that no part grows several times. */
  void reserve() {
    for (int number = 0; number < PARTS; number++) {
      int slots = slots(number, idsMax);
      if (slots > parts[number].slots.length) {
        resize(parts[number], slots);
      }
    }
  }

  private void resize(Part part, int slots) {
    int[] larger = new int[slots];
    for (int filled : part.slots) {
      if (filled != 0) {
        long hash = part.hash(filled, secret);
        int slot = home(hash, larger.length);
        while (larger[slot] != 0) {
          slot = after(slot, larger.length);
        }
        larger[slot] = filled;
      }
    }
    part.slots = larger;
  }

  /** Returns the number of slots of a part. */
  int slots(int part) {
    return parts[part].slots.length;
  }

  /** Returns the number of entries of the largest part. */
  int largestPart() {
    return Arrays.stream(parts).mapToInt(part -> part.used).max().orElse(0);
  }

  /**
   * Copies the slots of the entries of a part, almost in order of hash. All hashes of a part are
   * below those of the next.
   *
   * @return the number of entries
   */
  int entries(int part, int[] to) {
    int count = 0;
    for (int filled : parts[part].slots) {
      if (filled != 0) {
        to[count++] = filled;
      }
    }
    return count;
  }

  /** Returns the hash of an entry, by its slot. */
  long hash(int part, int filled) {
    return parts[part].hash(filled, secret);
  }

  /** Returns a copy of an entry, by its slot. */
  long[] entry(int part, int filled) {
    long[] entry = new long[STRIDE];
    parts[part].read(filled, entry);
    return entry;
  }

  /** Adds an entry to a file, and to the index. */
  void addTo(IdFileWriter out, int part, int filled, long hash) throws IOException {
    out.add(parts[part].chunkOf(filled), Part.placeOf(filled), hash);
    IdIndex chosen = index;
    if (chosen != null) {
      chosen.add(hash);
    }
  }

  /** Passes on all entries, unordered. */
  void forEach(Consumer<long[]> action) {
    for (int part = 0; part < PARTS; part++) {
      for (int filled : parts[part].slots) {
        if (filled != 0) {
          action.accept(entry(part, filled));
        }
      }
    }
  }

  /** Clears the table, keeping its capacity. */
  void clear() {
    for (Part part : parts) {
      part.clear();
    }
    size = 0;
    index = null;
    oldestMillis = Long.MAX_VALUE;
    newestMillis = Long.MIN_VALUE;
  }

  /** Returns the bits of a hash that its slot has. */
  private static int tag(long hash) {
    return (int) hash & Part.TAG;
  }

  /**
   * Some of the entries, and where they are.
   *
   * <pre>{@code
   * SLOT: 0 if it is free, otherwise position + 1 << 10 | 10 bits of the hash
   * The position of an entry is the number of its chunk << 12 | its place in the chunk.
   * }</pre>
   */
  private static final class Part {
    private static final int TAG_BITS = 10;
    static final int TAG = (1 << TAG_BITS) - 1;
    private static final int CHUNK_BITS = 12;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int CHUNK_FIRST = 1 << 7; // tables of a few ids are small
    private static final int CHUNK_NEXT = CHUNK / 4; // grows as well, for the last is half empty

    /** Far more than a part has of the most ids that a table may have. */
    private static final int CHUNKS_MAX = 1 << (Integer.SIZE - TAG_BITS - CHUNK_BITS);

    int[] slots = new int[PART_SLOTS_FIRST];
    int used;
    private ByteBuffer[] chunks = {ByteBuffer.allocate(CHUNK_FIRST)};
    private int filling; // the number of the chunk to which entries are added

    private static int positionOf(int filled) {
      return (filled >>> TAG_BITS) - 1;
    }

    /** Returns the place of an entry in its chunk. */
    static int placeOf(int filled) {
      return positionOf(filled) & (CHUNK - 1);
    }

    ByteBuffer chunkOf(int filled) {
      return chunks[positionOf(filled) >>> CHUNK_BITS];
    }

    /** Returns the slot of an id, with its entry, or the free one where it belongs. */
    int slot(long hash, long high, long low, int ordinal, long[] entry) {
      int slot = home(hash, slots.length);
      for (; slots[slot] != 0; slot = after(slot, slots.length)) {
        int filled = slots[slot];
        if ((filled & TAG) == tag(hash)) {
          read(filled, entry);
          if (entry[0] == high && entry[1] == low && ordinal(entry[2]) == ordinal) {
            return slot;
          }
        }
      }
      return slot;
    }

    /** Copies the entry of a slot. */
    void read(int filled, long[] to) {
      PackedEntry.get(chunkOf(filled), placeOf(filled), to, 0);
    }

    /** Returns the hash of the entry of a slot. */
    long hash(int filled, Secret secret) {
      return PackedEntry.hash(chunkOf(filled), placeOf(filled), secret);
    }

    /** Adds an entry; returns the content of its slot, without bits of the hash. */
    int append(long[] entry) {
      int bytes = PackedEntry.bytes(entry, 0);
      if (chunks[filling].remaining() < bytes) {
        reach();
      }
      ByteBuffer chunk = chunks[filling];
      int position = filling << CHUNK_BITS | chunk.position();
      PackedEntry.put(chunk, entry, 0);
      return (position + 1) << TAG_BITS;
    }

    private void reach() {
      ByteBuffer chunk = chunks[filling];
      if (chunk.capacity() < CHUNK) {
        chunks[filling] = ByteBuffer.allocate(chunk.capacity() * 2).put(chunk.flip());
        return;
      }
      if (filling + 1 == CHUNKS_MAX) {
        throw new IllegalStateException("too many request ids in one part of a table");
      }
      if (filling + 1 == chunks.length) {
        ByteBuffer next = ByteBuffer.allocate(CHUNK_NEXT);
        chunks = Arrays.copyOf(chunks, filling + 2);
        chunks[filling + 1] = next;
      }
      filling++;
    }

    void clear() {
      Arrays.fill(slots, 0);
      used = 0;
      filling = 0;
      for (ByteBuffer chunk : chunks) {
        chunk.clear();
      }
    }
  }
}
