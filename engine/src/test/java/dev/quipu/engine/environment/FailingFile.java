package dev.quipu.engine.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;

/** A file wrapper whose writes and syncs may fail; a failed write is partially applied. */
public final class FailingFile implements DiskFile {
  private final DiskFile file;
  private final BooleanSupplier fails;

  public FailingFile(DiskFile file, BooleanSupplier fails) {
    this.file = file;
    this.fails = fails;
  }

  @Override
  public void write(ByteBuffer bytes, long offset) throws IOException {
    if (fails.getAsBoolean()) {
      file.write(bytes.slice(bytes.position(), bytes.remaining() / 2), offset);
      throw new IOException("injected: write");
    }
    file.write(bytes, offset);
  }

  @Override
  public void sync() throws IOException {
    if (fails.getAsBoolean()) {
      throw new IOException("injected: sync");
    }
    file.sync();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
