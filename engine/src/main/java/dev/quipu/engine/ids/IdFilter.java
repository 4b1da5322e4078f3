package dev.quipu.engine.ids;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/**
 * A Bloom filter in blocks of a cache line, which answers "definitely absent" for about 99.8% of
 * absent ids by reading one block; 16 bits per id. It is read from the file that it is mapped in,
 * which an {@link IdFilterWriter} wrote.
 *
 * <p>Blocks are in order of the hashes. A file is written in that order, too, so that its filter is
 * filled from the start to the end, and not at random.
 */
final class IdFilter {
  static final int BLOCK_BYTES = 64;
  static final int BLOCK_LONGS = BLOCK_BYTES / Long.BYTES;
  static final int PROBES = 6;
  static final int BLOCK_BITS_LOG = 9;

  private final int blocks;
  private final boolean isInOrder; // otherwise, as in older files, blocks are at random
  private final LongBuffer words;

  IdFilter(ByteBuffer bytes, boolean isInOrder) {
    this.blocks = bytes.remaining() / BLOCK_BYTES;
    this.isInOrder = isInOrder;
    this.words = bytes.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
  }

  int blocks() {
    return blocks;
  }

  /** Returns the bits of an id in its block, 9 for each of its probes. */
  static long bits(long hash) {
    return hash * 0xD6E8FEB86659FD93L;
  }

  /** Returns the block of a hash: its upper half, as a fraction. */
  static int block(long hash, int blocks) {
    return (int) (((hash >>> Integer.SIZE) * blocks) >>> Integer.SIZE);
  }

  /** Returns the word of the next probe in a block; its bit is that of the lowest 6 bits. */
  static int wordOf(long bits) {
    return (int) (bits >>> 6) & (BLOCK_LONGS - 1);
  }

  private int first(long hash) {
    return block(isInOrder ? hash : bits(hash), blocks) * BLOCK_LONGS;
  }

  /** Returns whether an id may be present. */
  boolean mayHold(long hash) {
    int first = first(hash);
    long bits = bits(hash);
    for (int i = 0; i < PROBES; i++, bits >>>= BLOCK_BITS_LOG) {
      if ((words.get(first + wordOf(bits)) & 1L << bits) == 0) {
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
    long sum = 0;
    for (int i = 0; i < count; i++) { // short, so that several rounds are executed at once
      sum += words.get(first(hashes[i]));
    }
    return sum;
  }
}
