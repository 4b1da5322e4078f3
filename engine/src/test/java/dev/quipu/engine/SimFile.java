package dev.quipu.engine;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A file of the simulated disk: the content that readers see, and the durable content. */
final class SimFile {
  private static final int SECTOR = 512;
  private static final byte[] NOTHING = {};

  private byte[] seen = NOTHING; // followed by zeros up to seenSize
  private int seenSize;
  private byte[] durable = NOTHING;
  private int durableSize;
  private final List<Patch> unsynced = new ArrayList<>();

  private static final class Patch {
    final int offset;
    final byte[] bytes;

    Patch(int offset, byte[] bytes) {
      this.offset = offset;
      this.bytes = bytes;
    }
  }

  int size() {
    return seenSize;
  }

  /** Makes it a durable file of zeros. */
  void allocate(int size) {
    seenSize = size;
    durableSize = size;
  }

  void write(ByteBuffer from, int length, int offset) {
    byte[] bytes = new byte[length];
    from.get(from.position(), bytes);
    seen = patched(seen, offset, bytes);
    seenSize = Math.max(seenSize, offset + length);
    unsynced.add(new Patch(offset, bytes));
  }

  void sync() {
    for (Patch patch : unsynced) {
      keep(patch);
    }
    unsynced.clear();
  }

  /** Simulates a failed sync: some writes are durable, and no later sync writes the others. */
  void loseSync(SplittableRandom random) {
    for (Patch patch : unsynced) {
      if (random.nextBoolean()) {
        keep(patch);
      }
    }
    unsynced.clear();
  }

  private void keep(Patch patch) {
    durable = patched(durable, patch.offset, patch.bytes);
    durableSize = Math.max(durableSize, patch.offset + patch.bytes.length);
  }

  /** Simulates a power failure: any subset of the sectors of unsynced writes is on disk. */
  void cutPower(SplittableRandom random) {
    for (Patch patch : unsynced) {
      switch (random.nextInt(3)) {
        case 0 -> keep(patch);
        case 1 -> tear(patch, random);
        default -> {}
      }
    }
    unsynced.clear();
    seen = durable.clone();
    seenSize = durableSize;
  }

  private void tear(Patch patch, SplittableRandom random) {
    int end = patch.offset + patch.bytes.length;
    for (int from = patch.offset; from < end; ) {
      int until = Math.min(end, (from / SECTOR + 1) * SECTOR);
      if (random.nextBoolean()) {
        byte[] sector = Arrays.copyOfRange(patch.bytes, from - patch.offset, until - patch.offset);
        keep(new Patch(from, sector));
      }
      from = until;
    }
  }

  private static byte[] patched(byte[] to, int offset, byte[] bytes) {
    int end = offset + bytes.length;
    byte[] longer = to;
    if (end > to.length) {
      longer = Arrays.copyOf(to, Math.max(end, Math.min(2 * to.length, to.length + (1 << 16))));
    }
    System.arraycopy(bytes, 0, longer, offset, bytes.length);
    return longer;
  }

  void read(long offset, ByteBuffer into) {
    int length = Math.clamp(seenSize - offset, 0, into.remaining());
    int held = Math.clamp(Math.min(seen.length, seenSize) - offset, 0, length);
    if (held > 0) {
      into.put(seen, (int) offset, held);
    }
    int zeros = length - held;
    if (into.hasArray()) {
      int from = into.arrayOffset() + into.position();
      Arrays.fill(into.array(), from, from + zeros, (byte) 0);
      into.position(into.position() + zeros);
    } else {
      for (int i = 0; i < zeros; i++) {
        into.put((byte) 0);
      }
    }
  }
}
