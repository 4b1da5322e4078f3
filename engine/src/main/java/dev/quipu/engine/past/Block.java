package dev.quipu.engine.past;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.log.Records;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The counters that changed in a bucket, and their values before. Thread-safe.
 *
 * <pre>{@code
 * HISTORY FILE: history/START-END-FRAME.block, times in milliseconds since 1970, the last frame
 * whose changes it has. Written once, never changed.
 *
 *   head      magic, start, end, last frame, entries, offset of the restarts, CRC32C of the rest,
 *             CRC32C of this head
 *   entries   in order of the names (bytes of UTF-8, unsigned): length of the part of the name that
 *             it shares with the one before, length of the rest, the rest, scale or -1 for a
 *             counter that did not exist, value
 *   restarts  the offset of each 16th entry, which shares nothing
 * }</pre>
 */
final class Block {
  static final long MAGIC = 0x5155495055484931L; // "QUIPUHI1"
  static final int HEAD_BYTES = 48;
  static final int RESTART_EVERY = 16;
  static final String SUFFIX = ".block";

  private final Disk disk;
  private final Path path;
  private final long start;
  private final long end;
  private final long lastFrame;
  private @Nullable ByteBuffer bytes; // mapped at the first use; guarded by this

  private Block(Disk disk, Path path, long start, long end, long lastFrame) {
    this.disk = disk;
    this.path = path;
    this.start = start;
    this.end = end;
    this.lastFrame = lastFrame;
  }

  static String name(long start, long end, long lastFrame) {
    return "%016d-%016d-%016d%s".formatted(start, end, lastFrame, SUFFIX);
  }

  /** Returns the block of a file, by its name; it is read at the first use. */
  static Block of(Disk disk, Path path) {
    String[] parts = path.getFileName().toString().replace(SUFFIX, "").split("-", -1);
    return new Block(
        disk, path, Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]));
  }

  Path path() {
    return path;
  }

  long start() {
    return start;
  }

  long end() {
    return end;
  }

  long lastFrame() {
    return lastFrame;
  }

  private synchronized ByteBuffer bytes() throws IOException {
    ByteBuffer mapped = bytes;
    if (mapped == null) {
      mapped = disk.map(path);
      check(mapped);
      bytes = mapped;
    }
    return mapped.duplicate();
  }

  private void check(ByteBuffer all) {
    boolean isIntact = false;
    if (all.limit() >= HEAD_BYTES && all.getLong(0) == MAGIC) {
      int headCrc = crc(all.slice(0, HEAD_BYTES - Integer.BYTES));
      isIntact =
          headCrc == all.getInt(HEAD_BYTES - Integer.BYTES)
              && all.getLong(8) == start
              && all.getLong(16) == end
              && crc(all.slice(HEAD_BYTES, all.limit() - HEAD_BYTES)) == all.getInt(40);
    }
    if (!isIntact) {
      throw new DamageException(Damage.HISTORY, path, 0, "the file does not match its checksum");
    }
  }

  static int crc(ByteBuffer part) {
    CRC32C crc = new CRC32C();
    crc.update(part);
    return (int) crc.getValue();
  }

  /** Returns the entry of a counter; null if it did not change. */
  @Nullable Before find(byte[] name) throws IOException {
    Cursor cursor = from(name);
    return cursor.entry != null && Arrays.equals(cursor.entry.name(), name) ? cursor.entry : null;
  }

  /** Returns the entries from a name on, in order. */
  Cursor from(byte[] name) throws IOException {
    ByteBuffer all = bytes();
    int entries = all.getInt(32);
    int restarts = all.getInt(36);
    int low = 0;
    int high = Math.ceilDiv(entries, RESTART_EVERY) - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      Cursor at = new Cursor(all, all.getInt(restarts + middle * Integer.BYTES), restarts);
      if (at.entry != null && Arrays.compareUnsigned(at.entry.name(), name) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    int begin = entries == 0 ? restarts : all.getInt(restarts + low * Integer.BYTES);
    Cursor cursor = new Cursor(all, begin, restarts);
    while (cursor.entry != null && Arrays.compareUnsigned(cursor.entry.name(), name) < 0) {
      cursor.next();
    }
    return cursor;
  }

  /** A place among the entries. Not thread-safe. */
  static final class Cursor {
    private final ByteBuffer in;
    @Nullable Before entry; // null after the last one

    private Cursor(ByteBuffer all, int begin, int end) {
      this.in = all.duplicate().position(begin).limit(end);
      next();
    }

    void next() {
      if (!in.hasRemaining()) {
        entry = null;
        return;
      }
      int shared = (int) Records.unsigned(in);
      int rest = (int) Records.unsigned(in);
      byte[] name = new byte[shared + rest];
      if (shared > 0 && entry != null) {
        System.arraycopy(entry.name(), 0, name, 0, shared);
      }
      in.get(name, shared, rest);
      entry = new Before(name, in.get(), Records.signed(in));
    }
  }
}
