package dev.quipu.server.rank;

import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Function;

/** Keeps the first things of a ranking after a place; equal ones by name. Not thread-safe. */
final class Best<T> {
  private final Function<T, Place> placeOf;
  private final Optional<Place> after;
  private final int limit;
  private final Comparator<Place> order;
  private final PriorityQueue<T> kept;

  Best(Function<T, Place> placeOf, boolean isDescending, Optional<Place> after, int limit) {
    Comparator<Place> byRank = Comparator.comparing(Place::rank);
    this.placeOf = placeOf;
    this.after = after;
    this.limit = limit;
    this.order = (isDescending ? byRank.reversed() : byRank).thenComparing(Place::name, Key.ORDER);
    this.kept = new PriorityQueue<>(limit + 1, Comparator.comparing(placeOf, order).reversed());
  }

  void add(T each) {
    if (after.isEmpty() || order.compare(placeOf.apply(each), after.get()) > 0) {
      kept.add(each);
      if (kept.size() > limit + 1) { // one more shows whether another page follows
        kept.remove();
      }
    }
  }

  /** Returns the first ones, in order. */
  List<T> page() {
    List<T> page = new ArrayList<>(kept);
    page.sort(Comparator.comparing(placeOf, order));
    return page.subList(0, Math.min(limit, page.size()));
  }

  /** Returns the place after which the next page starts; empty on the last one. */
  Optional<Place> resumeAfter() {
    return kept.size() > limit ? Optional.of(placeOf.apply(page().getLast())) : Optional.empty();
  }
}
