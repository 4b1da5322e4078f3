package dev.quipu.engine.ids;

import dev.quipu.engine.environment.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A Bloom filter in blocks of a cache line, which answers "definitely absent" for about 99.8% of
 * absent ids by reading one block; 16 bits per id.
 *
 * <p>Blocks are in order of the hashes. A file is written in that order, too, so that its filter is
 * filled from the start to the end, and not at random.
 *
 * <p>It is read from the file that it is mapped in, or from memory, which may have larger pages: a
 * lookup in many filters mostly waits for the addresses of pages.
 */
final class IdFilter {
  static final int BLOCK_BYTES = 64;
  private static final int BITS_PER_ID = 16;
  private static final int PROBES = 6;
  private static final int BLOCK_LONGS = BLOCK_BYTES / Long.BYTES;
  private static final int BLOCK_BITS_LOG = 9;
  private static final int CHUNK_BLOCKS_LOG = 12; // 256 KiB: at most half of a region of G1
  private static final int CHUNK_BLOCKS = 1 << CHUNK_BLOCKS_LOG;

  private final int blocks;
  private final boolean isInOrder; // otherwise, as in older files, blocks are at random
  private final @Nullable LongBuffer mapped;
  private long @Nullable [][] loaded;

  /** Creates a filter for this number of ids, in memory. */
  IdFilter(int ids) {
    this.blocks = Math.max(1, (int) ((long) ids * BITS_PER_ID / (Byte.SIZE * BLOCK_BYTES)));
    this.isInOrder = true;
    this.mapped = null;
    this.loaded = chunks();
  }

  /** A filter in a mapped file. */
  IdFilter(ByteBuffer bytes, boolean isInOrder) {
    this.blocks = bytes.remaining() / BLOCK_BYTES;
    this.isInOrder = isInOrder;
    this.mapped = bytes.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
  }

  private long[][] chunks() {
    long[][] chunks = new long[Math.ceilDiv(blocks, CHUNK_BLOCKS)][];
    for (int i = 0; i < chunks.length; i++) {
      chunks[i] = new long[Math.min(CHUNK_BLOCKS, blocks - i * CHUNK_BLOCKS) * BLOCK_LONGS];
    }
    return chunks;
  }

  int blocks() {
    return blocks;
  }

  /** Returns the bytes of memory, besides the mapped file. */
  long loadedBytes() {
    return loaded == null ? 0 : (long) blocks * BLOCK_BYTES;
  }

  /** Copies a mapped filter to memory. */
  void load() {
    LongBuffer from = mapped;
    if (from != null) {
      long[][] chunks = chunks();
      for (int i = 0; i < chunks.length; i++) {
        from.get(i * CHUNK_BLOCKS * BLOCK_LONGS, chunks[i]);
      }
      loaded = chunks;
    }
  }

  /** Releases the copy of {@link #load}. */
  void unload() {
    if (mapped != null) {
      loaded = null;
    }
  }

  private static long spread(long hash) {
    return hash * 0xD6E8FEB86659FD93L;
  }

  /** Returns the block: the upper half of the hash, as a fraction. */
  private int block(long hash) {
    long from = isInOrder ? hash : spread(hash);
    return (int) (((from >>> Integer.SIZE) * blocks) >>> Integer.SIZE);
  }

  private static int indexOf(int block) {
    return (block & (CHUNK_BLOCKS - 1)) * BLOCK_LONGS;
  }

  /** Adds an id to a filter in memory. */
  void add(long hash) {
    int block = block(hash);
    long[] chunk = Objects.requireNonNull(loaded)[block >>> CHUNK_BLOCKS_LOG];
    int first = indexOf(block);
    long bits = spread(hash);
    for (int i = 0; i < PROBES; i++, bits >>>= BLOCK_BITS_LOG) {
      chunk[first + wordOf(bits)] |= 1L << bits;
    }
  }

  private static int wordOf(long bits) {
    return (int) (bits >>> 6) & (BLOCK_LONGS - 1);
  }

  /** Returns whether an id may be present. */
  boolean mayHold(long hash) {
    int block = block(hash);
    long bits = spread(hash);
    long[][] chunks = loaded;
    if (chunks == null) {
      return mayHoldMapped(block, bits);
    }
    long[] chunk = chunks[block >>> CHUNK_BLOCKS_LOG];
    int first = indexOf(block);
    for (int i = 0; i < PROBES; i++, bits >>>= BLOCK_BITS_LOG) {
      if ((chunk[first + wordOf(bits)] & 1L << bits) == 0) {
        return false;
      }
    }
    return true;
  }

  private boolean mayHoldMapped(int block, long probes) {
    LongBuffer words = Objects.requireNonNull(mapped);
    long bits = probes;
    for (int i = 0; i < PROBES; i++, bits >>>= BLOCK_BITS_LOG) {
      if ((words.get(block * BLOCK_LONGS + wordOf(bits)) & 1L << bits) == 0) {
        return false;
      }
    }
    return true;
  }

  /** Returns which of some ids may be present, a bit for each. */
  long mayHold(long[] hashes, int count) {
    long found = 0;
    for (int i = 0; i < count; i++) {
      found |= mayHold(hashes[i]) ? 1L << i : 0;
    }
    return found;
  }

  /** Prefetches the blocks of some ids; returns a number that depends on all of them. */
  long touch(long[] hashes, int count) {
    long[][] chunks = loaded;
    long sum = 0;
    for (int i = 0; i < count; i++) { // short, so that several rounds are executed at once
      int block = block(hashes[i]);
      sum +=
          chunks == null
              ? Objects.requireNonNull(mapped).get(block * BLOCK_LONGS)
              : chunks[block >>> CHUNK_BLOCKS_LOG][indexOf(block)];
    }
    return sum;
  }

  /** Writes a filter in memory to a file; returns the position after it. */
  long write(DiskFile file, long position, CRC32C crc) throws IOException {
    long at = position;
    for (long[] chunk : Objects.requireNonNull(loaded)) {
      ByteBuffer bytes =
          ByteBuffer.allocate(chunk.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asLongBuffer().put(chunk);
      crc.update(bytes.duplicate());
      file.write(bytes, at);
      at += bytes.limit();
    }
    return at;
  }
}
