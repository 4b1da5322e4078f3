package dev.quipu.server.rank;

import dev.quipu.CounterPage;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Counters by value; those with equal values by name.
 *
 * @param isDescending whether the greatest come first
 */
public record Ranking(Selection selection, boolean isDescending) {
  /**
   * A part of the ranking.
   *
   * @param resumeAfter the place after which the next part starts; empty on the last one
   */
  public record Page(List<CounterPage.Entry> counters, Optional<Place> resumeAfter) {
    /** Copies the list. */
    public Page {
      counters = List.copyOf(counters);
    }
  }

  /**
   * Returns the first counters after a place. Reads all selected counters, and keeps {@code limit}
   * of them.
   *
   * @param mayContinue asked before each page of counters is read
   * @throws IllegalArgumentException if there are more counters than may be read, or no time
   */
  public Page page(Listing listing, Optional<Place> after, int limit, BooleanSupplier mayContinue) {
    Best<CounterPage.Entry> best =
        new Best<>(
            each -> new Place(each.reading().decimal(), each.name()), isDescending, after, limit);
    selection.forEach(
        listing,
        "",
        mayContinue,
        counter -> {
          best.add(counter);
          return true;
        });
    return new Page(best.page(), best.resumeAfter());
  }
}
