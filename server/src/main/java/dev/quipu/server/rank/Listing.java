package dev.quipu.server.rank;

import dev.quipu.CounterPage;

/** Lists names with values, a page at a time: counters, pages with their views, or series. */
@FunctionalInterface
public interface Listing {
  /**
   * Returns names in order.
   *
   * @param after only names after this one; empty for all
   */
  CounterPage list(String prefix, String after, int limit);
}
