package dev.quipu.engine.ids;

import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/** Writes an {@link IdFile}, whose entries are added in order of hash. Not thread-safe. */
final class IdFileWriter implements Closeable {
  private static final int PAGES_PER_WRITE = 64;
  private static final int PAGE_ENTRIES_MIN =
      (IdFile.PAGE - IdFile.PAGE_HEAD) / PackedEntry.BYTES_MAX;

  private final Disk disk;
  private final Path path;
  private final Path draft;
  private final DiskFile file;
  private final ByteBuffer fences;
  private final IdFilterWriter filter;
  private final ByteBuffer out;
  private long offset = IdFile.PAGE;
  private int start; // of the page that is being filled
  private int count; // of its entries
  private int entries;
  private int pages;
  private boolean isClosed;

  /** Starts a file of at most this number of entries, to which the filter is adapted. */
  IdFileWriter(Disk disk, Path path, int entriesMax) throws IOException {
    int pagesMax = Math.ceilDiv(entriesMax, PAGE_ENTRIES_MIN);
    this.disk = disk;
    this.path = path;
    this.draft = draft(path);
    this.fences = ByteBuffer.allocate(pagesMax * Long.BYTES);
    this.filter = new IdFilterWriter(entriesMax);
    this.out = disk.buffer(IdFile.PAGE * Math.clamp(pagesMax, 1, PAGES_PER_WRITE));
    this.file = disk.create(draft);
  }

  /** Returns where a file is written until it is complete. */
  static Path draft(Path path) {
    return path.resolveSibling(path.getFileName() + ".tmp");
  }

  /** Adds a packed entry. */
  void add(ByteBuffer from, int at, long hash) throws IOException {
    int bytes = PackedEntry.bytes(from, at);
    if (count > 0 && out.position() + bytes > start + IdFile.PAGE) {
      endPage();
    }
    if (count == 0) {
      start = out.position();
      fences.putLong(hash);
      out.putInt(0).putInt(0);
    }
    PackedEntry.copy(from, at, bytes, out);
    filter.add(hash);
    entries++;
    count++;
  }

  /** Returns the bytes written so far. */
  long bytes() {
    return offset;
  }

  /** Syncs what was written so far, so that the last sync is short. */
  void sync() throws IOException {
    file.sync();
  }

  /** Completes the file. Returns when it is durable under its name. */
  void end(long oldestMillis, long newestMillis, long firstFrame, long lastFrame)
      throws IOException {
    if (count > 0) {
      endPage();
    }
    flush();
    fences.flip();
    CRC32C crc = new CRC32C();
    crc.update(fences.duplicate());
    long tail = (long) IdFile.PAGE * (pages + 1);
    long length = fences.limit();
    file.write(fences, tail);
    filter.write(file, tail + length, crc);
    ByteBuffer head = ByteBuffer.allocate(IdFile.PAGE);
    head.putLong(IdFile.MAGIC).putInt(1).putInt(entries).putInt(pages).putInt(filter.blocks());
    head.putLong(oldestMillis).putLong(newestMillis).putLong(firstFrame).putLong(lastFrame);
    head.putInt((int) crc.getValue());
    head.putInt(IdFile.HEAD_CRC, IdFile.crc(head.slice(0, IdFile.HEAD_CRC)));
    file.write(head.clear(), 0);
    file.sync();
    close();
    disk.rename(draft, path);
  }

  private void endPage() throws IOException {
    while (out.position() < start + IdFile.PAGE) {
      out.put((byte) 0);
    }
    out.putInt(start + 4, count);
    out.putInt(start, IdFile.crc(out.slice(start + 4, IdFile.PAGE - 4)));
    count = 0;
    pages++;
    if (!out.hasRemaining()) {
      flush();
    }
  }

  private void flush() throws IOException {
    out.flip();
    int length = out.remaining();
    file.write(out, offset);
    offset += length;
    out.clear();
  }

  @Override
  public void close() throws IOException {
    if (!isClosed) {
      isClosed = true;
      file.close();
    }
  }
}
