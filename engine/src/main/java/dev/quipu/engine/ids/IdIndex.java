package dev.quipu.engine.ids;

import dev.quipu.engine.damage.DamageException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether an id may be among all those of files of a span of time: the answer is mostly in one
 * cache line, however many they are. Ids are added and never removed: an index is dropped as a
 * whole. One thread may add ids while another looks up ids; it may miss those that are being added.
 *
 * <pre>{@code
 * The upper 12 bits of a hash choose a part. The 32 bits after them are stored in a slot, 0 for
 * none. As a fraction they are also the slot where probing begins, so that a part can grow, by
 * half, without the ids. Load limits differ, from 0.58 to 0.7, so that parts do not grow at the
 * same moment. So an id takes 6 to 10 bytes. With a hundred million, of a million others about six
 * are taken for one of them.
 * }</pre>
 */
public final class IdIndex {
  /** Heap of an id on average, in bytes. */
  static final int BYTES_PER_ID = 8;

  private static final int PART_BITS = 12;
  private static final int PARTS = 1 << PART_BITS;
  private static final int SLOTS_FIRST = 8;
  private static final int PAGES_PER_PIECE = 256; // 1 MiB
  private static final int ARRAY_HEADER_BYTES = 16;

  /** An empty part, which all are at first. */
  private static final int[] NONE = new int[1];

  /** Access to a part: a thread that sees a larger one sees all that was copied to it. */
  private static final VarHandle EACH = MethodHandles.arrayElementVarHandle(int[][].class);

  private final int[][] parts = new int[PARTS][];
  private final int[] used = new int[PARTS];
  private volatile long bytes = (long) PARTS * 2 * Integer.BYTES; // references are as small

  IdIndex() {
    Arrays.fill(parts, NONE);
  }

  /** Returns the heap that it takes, in bytes. */
  long bytes() {
    return bytes;
  }

  /**
   * Returns an index of the ids of files; null if {@code pace} ended it.
   *
   * @throws DamageException if a page is damaged
   */
  static @Nullable IdIndex of(List<IdFile> files, Secret secret, IdMerge.Pace pace) {
    IdIndex index = new IdIndex();
    for (IdFile file : files) {
      IdCursor cursor = new IdCursor(file, secret);
      int paced = 0;
      while (cursor.next()) {
        index.add(cursor.hash());
        if (cursor.pages() - paced > PAGES_PER_PIECE) {
          paced = cursor.pages();
          if (!pace.next()) {
            return null;
          }
        }
      }
    }
    return index;
  }

  private static int part(long hash) {
    return (int) (hash >>> (Long.SIZE - PART_BITS));
  }

  private static int stored(long hash) {
    int bits = (int) (hash << PART_BITS >>> Integer.SIZE);
    return bits == 0 ? 1 : bits;
  }

  private static int home(int stored, int slots) {
    return (int) ((Integer.toUnsignedLong(stored) * slots) >>> Integer.SIZE);
  }

  private int[] partOf(long hash) {
    return (int[]) EACH.getAcquire(parts, part(hash));
  }

  /** Prefetches the slot of an id: see {@link IdsAhead}. */
  long touch(long hash) {
    int[] part = partOf(hash);
    return part[home(stored(hash), part.length)];
  }

  /** Returns whether an id may have been added; false if it was not. */
  boolean mayHold(long hash) {
    int[] part = partOf(hash);
    int stored = stored(hash);
    return part[slot(part, stored)] == stored;
  }

  void add(long hash) {
    int number = part(hash);
    int[] part = parts[number];
    if (isNone(part) || used[number] * 256L >= part.length * (150L + number % 32)) {
      resize(number, Math.max(SLOTS_FIRST, part.length + part.length / 2));
      part = parts[number];
    }
    int stored = stored(hash);
    int slot = slot(part, stored);
    if (part[slot] == 0) {
      part[slot] = stored;
      used[number]++;
    }
  }

  private static boolean isNone(int[] part) {
    return part.length < SLOTS_FIRST;
  }

  private static long bytes(int[] part) {
    return ARRAY_HEADER_BYTES + (long) part.length * Integer.BYTES;
  }

  private void resize(int number, int slots) {
    int[] part = parts[number];
    int[] larger = new int[slots];
    for (int stored : part) {
      if (stored != 0) {
        larger[slot(larger, stored)] = stored;
      }
    }
    long before = bytes; // only one thread changes it
    bytes = before + bytes(larger) - (isNone(part) ? 0 : bytes(part));
    EACH.setRelease(parts, number, larger);
  }

  /** Returns the slot with these bits of a hash, or the free one where they belong. */
  private static int slot(int[] part, int stored) {
    int slot = home(stored, part.length);
    while (part[slot] != stored && part[slot] != 0) {
      slot = IdTable.after(slot, part.length);
    }
    return slot;
  }
}
