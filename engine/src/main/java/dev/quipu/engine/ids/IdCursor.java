package dev.quipu.engine.ids;

import dev.quipu.engine.damage.DamageException;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads the entries of a file in order of hash, in their packed form. Not thread-safe. */
final class IdCursor {
  private final IdFile file;
  private final Secret secret;
  private final ByteBuffer repacked = ByteBuffer.allocate(PackedEntry.BYTES_MAX);
  private int page; // the next one
  private int left; // entries of the page before it
  private int at;
  private int bytes;
  private long high;
  private long low;
  private int ordinal;
  private long hash;

  /** Creates a cursor before the first entry. */
  IdCursor(IdFile file, Secret secret) {
    this.file = file;
    this.secret = secret;
  }

  /**
   * Goes on to the next entry; returns false if there is none.
   *
   * @throws DamageException if its page is damaged
   */
  boolean next() {
    at += bytes;
    while (left == 0) {
      if (page == file.pages()) {
        return false;
      }
      at = file.firstEntry(page);
      left = file.entries(page++);
    }
    left--;
    bytes = file.entryBytes(at);
    high = file.high(at);
    low = file.low(at);
    ordinal = file.ordinal(at);
    hash = secret.hash(high, low, ordinal);
    return true;
  }

  /** Returns the number of pages that were begun. */
  int pages() {
    return page;
  }

  long high() {
    return high;
  }

  long low() {
    return low;
  }

  int ordinal() {
    return ordinal;
  }

  long hash() {
    return hash;
  }

  /** Adds the entry to a file. */
  void addTo(IdFileWriter out) throws IOException {
    if (file.isCurrent()) {
      out.add(file.bytes(), at, hash);
    } else {
      file.repack(at, repacked.clear());
      out.add(repacked, 0, hash);
    }
  }
}
