package dev.quipu.engine.environment;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A file that is open for writing. */
public interface DiskFile extends Closeable {
  /** Writes all of {@code bytes} at {@code offset}; its position does not change. */
  void write(ByteBuffer bytes, long offset) throws IOException;

  /** Returns when all writes are durable. */
  void sync() throws IOException;
}
