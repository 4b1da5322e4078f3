package dev.quipu.server.net;

import dev.quipu.time.Clock;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the memory that all clients together can make the ports hold: requests that are being
 * read, queued transactions, replies that nobody has read yet. Counters and request ids have a
 * budget of their own in the engine. Thread-safe.
 */
public final class MemoryBudget {
  /** The ports may hold one part in this many of the largest heap. */
  private static final int HEAP_SHARE = 5;

  /** Connections that ask for nothing may hold one part in this many of the limit, besides. */
  private static final int CONNECTIONS_SHARE = 2;

  private final long limitBytes;
  private final Connections connections;
  private final AtomicLong usedBytes = new AtomicLong();

  /** Creates an unused budget of this many bytes. */
  public MemoryBudget(long limitBytes) {
    this.limitBytes = limitBytes;
    this.connections =
        new Connections(
            limitBytes / CONNECTIONS_SHARE, Connections.countMaxOfSystem(), Clock.system());
  }

  /** Returns a budget derived from the largest heap of this process. */
  public static MemoryBudget ofHeap() {
    return new MemoryBudget(Runtime.getRuntime().maxMemory() / HEAP_SHARE);
  }

  /** Reserves bytes if the limit allows it; returns whether it did. */
  public boolean tryReserve(long bytes) {
    while (true) {
      long used = usedBytes.get();
      if (bytes > limitBytes - used) {
        return false;
      }
      if (usedBytes.compareAndSet(used, used + bytes)) {
        return true;
      }
    }
  }

  /** Returns all connections, whose limit is apart from that of requests. */
  public Connections connections() {
    return connections;
  }

  /** Gives back bytes that were reserved. */
  public void release(long bytes) {
    usedBytes.addAndGet(-bytes);
  }

  /** Returns the limit, in bytes. */
  public long limitBytes() {
    return limitBytes;
  }

  /** Returns what is reserved now, in bytes. */
  public long usedBytes() {
    return usedBytes.get();
  }
}
