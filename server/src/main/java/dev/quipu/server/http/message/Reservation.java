package dev.quipu.server.http.message;

import dev.quipu.server.net.MemoryBudget;

/** The part of the memory budget that a request holds. Thread-safe. */
public final class Reservation {
  private final MemoryBudget budget;
  private long bytes;
  private boolean released;

  public Reservation(MemoryBudget budget) {
    this.budget = budget;
  }

  /** Returns the budget. */
  MemoryBudget budget() {
    return budget;
  }

  /** Reserves more bytes, and returns whether the budget allowed it. */
  synchronized boolean tryGrow(long more) {
    if (released || !budget.tryReserve(more)) {
      return false;
    }
    bytes += more;
    return true;
  }

  /**
   * Grows the reservation to this many bytes in total, and returns whether the budget allowed it.
   */
  public synchronized boolean tryGrowTo(long all) {
    return all <= bytes || tryGrow(all - bytes);
  }

  /** Returns the bytes above this total to the budget. */
  public synchronized void shrinkTo(long all) {
    if (!released && all < bytes) {
      budget.release(bytes - all);
      bytes = all;
    }
  }

  /** Returns all bytes to the budget. Later reservations fail. */
  public synchronized void release() {
    if (!released) {
      released = true;
      budget.release(bytes);
      bytes = 0;
    }
  }
}
