package dev.quipu.server.protocol;

import dev.quipu.server.net.MemoryBudget;

/*
 * An ordinary connection never touches the shared budget: it stays within the free bytes that were
 * reserved when it was accepted. Beyond these, memory is reserved in steps, so that most batches
 * need no atomic operation on shared state.
 *
 * A commit that timed out may still be executed by another thread: hence the lock, which is nearly
 * always uncontended.
 */

/** The share of one connection in the {@link MemoryBudget}. Thread-safe. */
public final class ConnectionMemory {
  /** Bytes reserved for each connection when it is accepted, and not counted here. */
  static final int FREE_BYTES = 4 << 10;

  private static final int STEP_BYTES = 4 << 10;

  /** Size from which a collected reply counts as large. */
  private static final int LARGE_REPLY_BYTES = 64 << 10;

  private final MemoryBudget budget;
  private final long replyBytesMax;
  private long usedBytes;
  private long replyBytes; // of these, replies being collected
  private long reservedBytes;
  private boolean isClosed;
  private boolean wasRejected;
  private boolean isLarge; // a large reply is being collected or was rejected

  /**
   * Creates the unused memory of one connection.
   *
   * @param replyBytesMax maximum size of the replies being collected
   */
  public ConnectionMemory(MemoryBudget budget, long replyBytesMax) {
    this.budget = budget;
    this.replyBytesMax = replyBytesMax;
  }

  /** Reserves bytes if the budget allows it; returns whether it did. */
  public synchronized boolean tryTake(long bytes) {
    if (isClosed) {
      return true; // nothing is kept
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

  /** Returns whether a reservation was rejected since the last call. */
  synchronized boolean wasRejected() {
    boolean was = wasRejected;
    wasRejected = false;
    return was;
  }

  /** Releases bytes that were taken. */
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

  /** Returns whether the connection holds bytes of the shared budget. */
  synchronized boolean isShared() {
    return reservedBytes > 0;
  }

  /** Reserves bytes for a reply being collected. */
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

  /** Returns whether a large reply was collected or rejected since {@link #keep}. */
  boolean isLarge() {
    return isLarge; // read by the collecting thread only
  }

  /**
   * Keeps replies until they are read. What was reserved while they were collected is carried over,
   * not released and taken again: another connection could take it in between.
   *
   * @return the bytes reserved for these replies: fewer if the budget does not allow all
   */
  synchronized long keep(long bytes) {
    isLarge = false;
    long collected = replyBytes;
    replyBytes = 0;
    if (bytes > collected && !tryTake(bytes - collected)) {
      return collected; // these replies exist, and nothing else may use their memory
    }
    if (bytes < collected) { // rare: most batches collect nothing
      give(collected - bytes);
    }
    return bytes;
  }

  /** Returns the maximum size of a reply, in bytes. */
  public long replyBytesMax() {
    return replyBytesMax;
  }

  /** Releases everything: the connection has closed. */
  synchronized void close() {
    isClosed = true;
    budget.release(reservedBytes);
    reservedBytes = 0;
  }

  /** The result of a reservation. */
  public enum Room {
    /** The bytes were reserved. */
    TAKEN,
    /** The replies of this connection would exceed their limit. */
    OVER_CONNECTION,
    /** The budget of all connections is used up. */
    OVER_BUDGET
  }
}
