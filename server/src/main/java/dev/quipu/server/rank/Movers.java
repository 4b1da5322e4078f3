package dev.quipu.server.rank;

import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.backend.CounterHistory;
import dev.quipu.backend.CounterHistory.Changed;
import dev.quipu.view.ViewCounter;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Counters, or pages with their views, by how much they changed since a boundary of the past; those
 * that changed equally by name. One that has its value of then is not among them.
 *
 * @param isDescending whether the greatest increase comes first
 */
public record Movers(Selection selection, Instant since, boolean isDescending) {
  /**
   * A counter or page that changed.
   *
   * @param reading its present value; empty if it no longer exists
   */
  public record Moved(String name, Optional<Reading> reading, BigDecimal change) {}

  /**
   * A part of the ranking.
   *
   * @param resumeAfter the place after which the next part starts; empty on the last one
   */
  public record Page(List<Moved> moved, Optional<Place> resumeAfter) {
    /** Copies the list. */
    public Page {
      moved = List.copyOf(moved);
    }
  }

  /**
   * Returns the first counters after a place. Reads all counters that changed.
   *
   * @param mayContinue asked before each page of counters is read
   * @throws IllegalArgumentException if the values at the boundary are not kept, too many counters
   *     changed, or there is no time
   */
  public Page page(
      CounterHistory history,
      Counters counters,
      Optional<Place> after,
      int limit,
      BooleanSupplier mayContinue) {
    Best<Moved> best = best(after, limit);
    forEach(history, counters, mayContinue, best::add);
    return new Page(best.page(), best.resumeAfter());
  }

  /**
   * Returns the first pages after a place, by how many views they had. Reads the numbers of all
   * pages, and the views since the boundary.
   *
   * @param mayContinue asked before the views of each page are counted
   * @throws IllegalArgumentException if there are too many pages, or there is no time
   */
  public Page page(
      ViewCounter views, Optional<Place> after, int limit, BooleanSupplier mayContinue) {
    Best<Moved> best = best(after, limit);
    selection.forEach(
        views::pages,
        "",
        mayContinue,
        page -> {
          if (!mayContinue.getAsBoolean()) {
            throw selection.noTime();
          }
          long count = views.count(page.name(), Optional.of(since), Optional.empty());
          if (count > 0) {
            best.add(
                new Moved(page.name(), Optional.of(page.reading()), BigDecimal.valueOf(count)));
          }
          return true;
        });
    return new Page(best.page(), best.resumeAfter());
  }

  private Best<Moved> best(Optional<Place> after, int limit) {
    return new Best<>(each -> new Place(each.change, each.name), isDescending, after, limit);
  }

  /**
   * Passes on all counters that changed, in no order.
   *
   * @param mayContinue asked before each page of counters is read
   * @throws IllegalArgumentException if the values at the boundary are not kept, too many counters
   *     changed, or there is no time
   */
  void forEach(
      CounterHistory history,
      Counters counters,
      BooleanSupplier mayContinue,
      Consumer<Moved> action) {
    List<Changed> changed =
        history.changedSince(selection.prefix(), since).stream()
            .filter(each -> selection.hasText(each.name()))
            .toList();
    for (int from = 0; from < changed.size(); from += Limits.PAGE_COUNTERS_MAX) {
      if (!mayContinue.getAsBoolean()) {
        throw selection.noTime();
      }
      List<Changed> some =
          changed.subList(from, Math.min(changed.size(), from + Limits.PAGE_COUNTERS_MAX));
      List<Optional<Reading>> now = counters.readAll(some.stream().map(Changed::name).toList());
      for (int i = 0; i < some.size(); i++) {
        Changed each = some.get(i);
        BigDecimal change = value(now.get(i)).subtract(value(each.before()));
        if (change.signum() != 0) {
          action.accept(new Moved(each.name(), now.get(i), change));
        }
      }
    }
  }

  private static BigDecimal value(Optional<Reading> reading) {
    return reading.map(Reading::decimal).orElse(BigDecimal.ZERO);
  }
}
