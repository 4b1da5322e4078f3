package dev.quipu.server.protocol;

import dev.quipu.server.net.MemoryBudget;

/*
 * A connection that asks and reads as clients do never touches the budget: what it holds stays
 * within the bytes that every connection has of its own, which were reserved when it was accepted.
 * Beyond these it reserves in steps, so that most batches cost no operation on what all connections
 * share.
 *
 * A commit that failed by its deadline may still be done later, by another thread: hence the lock,
 * which is free nearly always.
 */

/** The memory that one connection holds of the {@link MemoryBudget}. Thread-safe. */
public final class ConnectionMemory {
  /** Bytes of a connection that are not counted: they were reserved when it was accepted. */
  static final int FREE_BYTES = 4 << 10;

  private static final int STEP_BYTES = 4 << 10;

  /** Bytes of a reply from which on collecting it keeps others waiting. */
  private static final int LARGE_REPLY_BYTES = 64 << 10;

  private final MemoryBudget budget;
  private final long replyBytesMax;
  private long usedBytes;
  private long replyBytes; // of these, replies that are being collected
  private long reservedBytes;
  private boolean isClosed;
  private boolean wasRejected;
  private boolean isLarge; // what is being collected, or was rejected

  /**
   * Creates the unused memory of one connection.
   *
   * @param replyBytesMax most bytes of replies that are being collected
   */
  public ConnectionMemory(MemoryBudget budget, long replyBytesMax) {
    this.budget = budget;
    this.replyBytesMax = replyBytesMax;
  }

  /** Reserves bytes if the budget allows it; returns whether it did. */
  public synchronized boolean tryTake(long bytes) {
    if (isClosed) {
      return true; // nothing of it is kept
    }
    long needed = needed(usedBytes + bytes);
    if (needed > reservedBytes) {
      if (!budget.tryReserve(needed - reservedBytes)) {
        wasRejected = true;
        return false;
      }
      reservedBytes = needed;
    }
    usedBytes += bytes;
    return true;
  }

  private static long needed(long used) {
    return used <= FREE_BYTES ? 0 : (used - FREE_BYTES + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
  }

  /** Whether bytes were rejected since this was asked before. */
  synchronized boolean wasRejected() {
    boolean was = wasRejected;
    wasRejected = false;
    return was;
  }

  /** Returns bytes that were taken. */
  public synchronized void give(long bytes) {
    if (isClosed) {
      return;
    }
    usedBytes -= bytes;
    long needed = needed(usedBytes);
    if (needed < reservedBytes) {
      budget.release(reservedBytes - needed);
      reservedBytes = needed;
    }
  }

  /** Whether it holds more than what every connection has of its own. */
  synchronized boolean isShared() {
    return reservedBytes > 0;
  }

  /** Reserves bytes for a reply that is being collected. */
  public synchronized Room collect(long bytes) {
    if (replyBytes + bytes > replyBytesMax) {
      isLarge = true;
      return Room.OVER_CONNECTION;
    }
    if (!tryTake(bytes)) {
      isLarge = true;
      return Room.OVER_BUDGET;
    }
    replyBytes += bytes;
    isLarge |= replyBytes >= LARGE_REPLY_BYTES;
    return Room.TAKEN;
  }

  /** Whether a large reply was collected, or rejected, since {@link #keep}. */
  boolean isLarge() {
    return isLarge; // by the thread that collects
  }

  /**
   * Replies have been collected, and are kept until they are read. What was reserved for them is
   * not given back first: others would take it, and each connection keep a reply that is in no
   * budget.
   *
   * @return whether the budget allows that many bytes; if not, none are reserved
   */
  synchronized boolean keep(long bytes) {
    isLarge = false;
    long collected = replyBytes;
    replyBytes = 0;
    if (bytes > collected && !tryTake(bytes - collected)) {
      give(collected);
      return false;
    }
    if (bytes < collected) { // seldom: most batches collect nothing
      give(collected - bytes);
    }
    return true;
  }

  /** Returns the most bytes of a reply. */
  public long replyBytesMax() {
    return replyBytesMax;
  }

  /** Returns everything: the connection has ended. */
  synchronized void close() {
    isClosed = true;
    budget.release(reservedBytes);
    reservedBytes = 0;
  }

  /** Whether bytes were reserved. */
  public enum Room {
    /** They were. */
    TAKEN,
    /** The replies of this connection would be larger than they may be. */
    OVER_CONNECTION,
    /** All connections together hold as much as they may. */
    OVER_BUDGET
  }
}
