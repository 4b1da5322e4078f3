package dev.quipu.server.http;

import dev.quipu.server.net.MemoryBudget;

/** The bytes of the memory budget that one request holds. Thread-safe. */
final class Reservation {
  private final MemoryBudget budget;
  private long bytes;
  private boolean released;

  Reservation(MemoryBudget budget) {
    this.budget = budget;
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
  synchronized boolean tryGrowTo(long all) {
    return all <= bytes || tryGrow(all - bytes);
  }

  /** Returns what is above this to the budget. */
  synchronized void shrinkTo(long all) {
    if (!released && all < bytes) {
      budget.release(bytes - all);
      bytes = all;
    }
  }

  /** Returns all bytes to the budget, and reserves nothing from now on. */
  synchronized void release() {
    if (!released) {
      released = true;
      budget.release(bytes);
      bytes = 0;
    }
  }
}
