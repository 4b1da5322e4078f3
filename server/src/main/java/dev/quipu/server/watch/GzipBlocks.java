package dev.quipu.server.watch;

import java.io.ByteArrayOutputStream;
import java.util.zip.Deflater;

/**
 * Blocks of a gzip stream (RFC 1951, RFC 1952) that do not refer to earlier ones: so one block can
 * be a part of the streams of several clients.
 */
public final class GzipBlocks {
  private static final byte[] HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};

  /** Smaller events fit into one packet in any case, and a compressor costs more than it saves. */
  private static final int COMPRESSED_BYTES_MIN = 1_400;

  private static final int BUFFER_BYTES = 16 << 10;
  private static final byte STORED = 0; // the type of a block that is not compressed, nor the last

  private GzipBlocks() {}

  /** Returns how a stream begins. */
  public static byte[] header() {
    return HEADER.clone();
  }

  /** Returns bytes as a block, at whose end a client has all of them. */
  static byte[] of(byte[] bytes) {
    return bytes.length < COMPRESSED_BYTES_MIN ? stored(bytes) : compressed(bytes);
  }

  private static byte[] stored(byte[] bytes) {
    byte[] block = new byte[5 + bytes.length];
    block[0] = STORED;
    block[1] = (byte) bytes.length;
    block[2] = (byte) (bytes.length >> 8);
    block[3] = (byte) ~block[1];
    block[4] = (byte) ~block[2];
    System.arraycopy(bytes, 0, block, 5, bytes.length);
    return block;
  }

  private static byte[] compressed(byte[] bytes) {
    try (Compressor compressor = new Compressor()) {
      return compressor.block(bytes);
    }
  }

  /** Owns the native memory of a deflater. */
  private record Compressor(Deflater deflater) implements AutoCloseable {
    Compressor() {
      this(new Deflater(Deflater.BEST_SPEED, true));
    }

    byte[] block(byte[] bytes) {
      ByteArrayOutputStream block = new ByteArrayOutputStream(bytes.length / 4);
      byte[] buffer = new byte[BUFFER_BYTES];
      deflater.setInput(bytes);
      int length;
      do {
        length = deflater.deflate(buffer, 0, buffer.length, Deflater.SYNC_FLUSH);
        block.write(buffer, 0, length);
      } while (length == buffer.length); // RFC 1951: less than asked for is all there is
      return block.toByteArray();
    }

    @Override
    public void close() {
      deflater.end();
    }
  }
}
