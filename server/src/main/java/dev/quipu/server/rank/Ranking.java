package dev.quipu.server.rank;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.store.Key;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * Counters by value; those with equal values by name.
 *
 * @param isDescending whether the greatest come first
 */
public record Ranking(Selection selection, boolean isDescending) {
  /** A place in the ranking. */
  public record Place(BigDecimal value, String name) {
    static Place of(CounterPage.Entry counter) {
      return new Place(counter.reading().decimal(), counter.name());
    }
  }

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

  private Comparator<Place> order() {
    Comparator<Place> byValue = Comparator.comparing(Place::value);
    return (isDescending ? byValue.reversed() : byValue).thenComparing(Place::name, Key.ORDER);
  }

  /**
   * Returns the first counters after a place. Reads all selected counters, and keeps {@code limit}
   * of them.
   *
   * @param mayContinue asked before each page of counters is read
   * @throws IllegalArgumentException if there are more counters than may be read, or no time
   */
  public Page page(
      Counters counters, Optional<Place> after, int limit, BooleanSupplier mayContinue) {
    Comparator<Place> order = order();
    Comparator<CounterPage.Entry> byPlace = Comparator.comparing(Place::of, order);
    PriorityQueue<CounterPage.Entry> kept = new PriorityQueue<>(limit + 1, byPlace.reversed());
    selection.forEach(
        counters,
        "",
        mayContinue,
        counter -> {
          if (after.isEmpty() || order.compare(Place.of(counter), after.get()) > 0) {
            kept.add(counter);
            if (kept.size() > limit + 1) { // one more shows whether another page follows
              kept.remove();
            }
          }
          return true;
        });
    List<CounterPage.Entry> page = new ArrayList<>(kept);
    page.sort(byPlace);
    if (page.size() <= limit) {
      return new Page(page, Optional.empty());
    }
    List<CounterPage.Entry> some = page.subList(0, limit);
    return new Page(some, Optional.of(Place.of(some.getLast())));
  }
}
