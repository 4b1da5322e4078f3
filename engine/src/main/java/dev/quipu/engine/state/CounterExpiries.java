package dev.quipu.engine.state;

/** Finds the expired counters of a {@link CounterTable} that are still present. Not thread-safe. */
public final class CounterExpiries {
  private final CounterPages pages;
  private long nextMillis = Long.MAX_VALUE; // no counter expires before

  CounterExpiries(CounterPages pages) {
    this.pages = pages;
  }

  /** Declares that a counter of a page expires at this time. */
  void add(CounterTablePage page, long atMillis) {
    page.nextExpiryMillis = Math.min(page.nextExpiryMillis, atMillis);
    nextMillis = Math.min(nextMillis, atMillis);
  }

  /** Returns whether there may be one. */
  public boolean mayExist(long nowMillis) {
    return nextMillis <= nowMillis;
  }

  /**
   * Finds some.
   *
   * @param found receives their ordinals, which the caller removes
   * @param max maximum number to find
   * @return the number found
   */
  public int find(long nowMillis, int[] found, int max) {
    int count = 0;
    long next = Long.MAX_VALUE;
    for (int number = 0; number < pages.size(); number++) {
      CounterTablePage page = pages.get(number);
      if (page.nextExpiryMillis <= nowMillis) {
        int first = number * CounterTablePage.SIZE;
        count = page.findExpired(first, nowMillis, found, count, max);
      }
      next = Math.min(next, page.nextExpiryMillis);
      if (count >= max) {
        return count; // there may be more
      }
    }
    nextMillis = next;
    return count;
  }

  /** Returns their number. */
  public int size(long nowMillis) {
    int count = 0;
    for (int number = 0; number < pages.size(); number++) {
      count += pages.get(number).expiredSize(nowMillis);
    }
    return count;
  }
}
