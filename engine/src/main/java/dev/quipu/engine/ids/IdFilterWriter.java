package dev.quipu.engine.ids;

import static dev.quipu.engine.ids.IdFilter.BLOCK_BITS_LOG;
import static dev.quipu.engine.ids.IdFilter.BLOCK_BYTES;
import static dev.quipu.engine.ids.IdFilter.BLOCK_LONGS;
import static dev.quipu.engine.ids.IdFilter.PROBES;

import dev.quipu.engine.environment.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Fills an {@link IdFilter} in memory and writes it to a file. */
final class IdFilterWriter {
  private static final int BITS_PER_ID = 16;
  private static final int CHUNK_BLOCKS_LOG = 12; // 256 KiB: at most half of a region of G1
  private static final int CHUNK_BLOCKS = 1 << CHUNK_BLOCKS_LOG;

  private final int blocks;
  private final long[][] chunks;

  /** Starts a filter for this number of ids. */
  IdFilterWriter(int ids) {
    this.blocks = Math.max(1, (int) ((long) ids * BITS_PER_ID / (Byte.SIZE * BLOCK_BYTES)));
    this.chunks = new long[Math.ceilDiv(blocks, CHUNK_BLOCKS)][];
    for (int i = 0; i < chunks.length; i++) {
      chunks[i] = new long[Math.min(CHUNK_BLOCKS, blocks - i * CHUNK_BLOCKS) * BLOCK_LONGS];
    }
  }

  int blocks() {
    return blocks;
  }

  void add(long hash) {
    int block = IdFilter.block(hash, blocks);
    long[] chunk = chunks[block >>> CHUNK_BLOCKS_LOG];
    int first = (block & (CHUNK_BLOCKS - 1)) * BLOCK_LONGS;
    long bits = IdFilter.bits(hash);
    for (int i = 0; i < PROBES; i++, bits >>>= BLOCK_BITS_LOG) {
      chunk[first + IdFilter.wordOf(bits)] |= 1L << bits;
    }
  }

  /** Writes the filter; returns the position after it. */
  long write(DiskFile file, long position, CRC32C crc) throws IOException {
    long at = position;
    for (long[] chunk : chunks) {
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
