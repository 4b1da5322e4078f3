package dev.quipu.server.net;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A number of bytes that many may reserve up to a limit. Thread-safe.
 *
 * @param limit in bytes
 */
record ByteLimit(long limit, AtomicLong used) {
  ByteLimit(long limit) {
    this(limit, new AtomicLong());
  }

  /** Reserves bytes if the limit allows it; returns whether it did. */
  boolean tryReserve(long bytes) {
    while (true) {
      long before = used.get();
      if (bytes > limit - before) {
        return false;
      }
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
    }
  }

  /** Releases reserved bytes. */
  void release(long bytes) {
    used.addAndGet(-bytes);
  }
}
