package dev.quipu.server.http.message;

import dev.quipu.server.net.MemoryBudget;

/** The bytes of the memory budget that one request holds. Thread-safe. */
public final class Reservation {
  private final MemoryBudget budget;
  private long bytes;
  private boolean released;

  public Reservation(MemoryBudget budget) {
    this.budget = budget;
  }

  /** Returns the budget that is reserved from. */
  MemoryBudget budget() {
    return budget;
  }

  /** Reserves more bytes if the budget allows it; returns whether it did. */
  synchronized boolean tryGrow(long more) {
    if (released || !budget.tryReserve(more)) {
      return false;
    }
    bytes += more;
    return true;
  }

  /**
   * Reserves up to this many bytes in all if the budget allows it; returns whether they are held.
   */
  public synchronized boolean tryGrowTo(long all) {
    return all <= bytes || tryGrow(all - bytes);
  }

  /** Returns what is above this to the budget. */
  public synchronized void shrinkTo(long all) {
    if (!released && all < bytes) {
      budget.release(bytes - all);
      bytes = all;
    }
  }

  /** Returns all bytes to the budget, and reserves nothing from now on. */
  public synchronized void release() {
    if (!released) {
      released = true;
      budget.release(bytes);
      bytes = 0;
    }
  }
}
