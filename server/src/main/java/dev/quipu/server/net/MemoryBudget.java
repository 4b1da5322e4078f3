package dev.quipu.server.net;

import dev.quipu.time.Clock;

/**
 * Bounds the memory that all clients together can make the ports hold: incomplete requests, queued
 * transactions, unread replies. Counters and request ids are bounded by the engine. Thread-safe.
 */
public final class MemoryBudget {
  /** The share of the maximum heap: one part in this many. */
  private static final int HEAP_SHARE = 5;

  /** The additional share of the limit for idle connections: one part in this many. */
  private static final int CONNECTIONS_SHARE = 2;

  /** The additional share of the limit for large receive buffers: one part in this many. */
  private static final int RECEIVE_SHARE = 4;

  private final ByteLimit limit;
  private final ReceiveMemory receive;
  private final Connections connections;

  /** Creates an unused budget of this many bytes. */
  public MemoryBudget(long limitBytes) {
    this.limit = new ByteLimit(limitBytes);
    this.receive = new ReceiveMemory(limitBytes / RECEIVE_SHARE);
    this.connections =
        new Connections(
            limitBytes / CONNECTIONS_SHARE, Connections.countMaxOfSystem(), Clock.system());
  }

  /** Returns a budget derived from the maximum heap of this process. */
  public static MemoryBudget ofHeap() {
    return new MemoryBudget(Runtime.getRuntime().maxMemory() / HEAP_SHARE);
  }

  /** Reserves bytes if the limit allows it; returns whether it did. */
  public boolean tryReserve(long bytes) {
    return limit.tryReserve(bytes);
  }

  /** Returns the connections, which have a limit of their own. */
  public Connections connections() {
    return connections;
  }

  /** Returns the receive buffers, which have a limit of their own. */
  public ReceiveMemory receive() {
    return receive;
  }

  /** Releases reserved bytes. */
  public void release(long bytes) {
    limit.release(bytes);
  }

  /** Returns the limit, in bytes. */
  public long limitBytes() {
    return limit.limit();
  }

  /** Returns the reserved bytes. */
  public long usedBytes() {
    return limit.used().get();
  }
}
