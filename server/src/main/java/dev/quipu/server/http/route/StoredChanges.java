package dev.quipu.server.http.route;

import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLog.HitPage;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.Problem;
import dev.quipu.store.Scan;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.ItemCollection.LedgerEntry;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewPage;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * How a counter or a page changed in steps of time, from changes that are stored one by one: by the
 * time that each has, to whenever it was written. The oldest ones may have been removed, so nothing
 * is known of the time before the first that is stored. Not thread-safe.
 */
final class StoredChanges {
  /** Maximum number of changes that a call reads. */
  static final int CHANGES_MAX = 1_000_000;

  private static final int TRIES_MAX = 5;

  private final Exchange exchange;
  private final List<Instant> boundaries;
  private final BigInteger[] sums;
  private int read;

  /**
   * Prepares sums.
   *
   * @param boundaries the start of the first step, and the end of each
   */
  StoredChanges(Exchange exchange, List<Instant> boundaries) {
    this.exchange = exchange;
    this.boundaries = boundaries;
    this.sums = new BigInteger[boundaries.size() - 1];
    clear();
  }

  /**
   * A step.
   *
   * @param change empty if it is not known
   * @param since if it is known of a part of the step, the start of that
   */
  record Step(Optional<BigDecimal> change, Optional<Instant> since) {}

  /** Returns the sums of the stored hits of a counter. */
  List<Step> hits(HitLog log, String counter, int scale) {
    return whileNoneIsRemoved(
        () -> log.page(counter, "", 1).hits().stream().findFirst().map(HitLog.Hit::at),
        () -> {
          Optional<String> next = Optional.of(HitLog.startAt(boundaries.getFirst()));
          while (next.isPresent()) {
            requireTime();
            HitPage page = log.page(counter, next.get(), Scan.ITEMS_MAX);
            page.hits().forEach(each -> add(each.at(), each.amount()));
            String end = HitLog.startAt(boundaries.getLast());
            next = page.resumeAt().filter(place -> place.compareTo(end) < 0);
          }
        },
        scale);
  }

  /** Returns the sums of the changes of a counter that are not compacted. */
  List<Step> changes(ItemCollection collection, String counter, int scale) {
    return whileNoneIsRemoved(
        () ->
            collection.ledger(counter, Optional.empty(), 1).changes().stream()
                .findFirst()
                .map(LedgerEntry::at),
        () -> {
          Optional<Place> after = Optional.empty();
          boolean isLast = false;
          while (!isLast) {
            requireTime();
            LedgerPage page = collection.ledger(counter, after, ItemCollection.PAGE_CHANGES_MAX);
            page.changes().forEach(each -> add(each.at(), each.added()));
            isLast = !page.hasMore();
            after = isLast ? after : Optional.of(place(page.changes().getLast()));
          }
        },
        scale);
  }

  private static Place place(LedgerEntry entry) {
    return new Place(entry.at(), entry.id());
  }

  /**
   * Returns the numbers of unique views of a page.
   *
   * @param keptSince since when all views are stored
   */
  List<Step> views(ViewCounter views, String url, Instant keptSince) {
    Optional<String> cursor = Optional.empty();
    do {
      requireTime();
      ViewPage page =
          views.page(
              url,
              Optional.of(boundaries.getFirst()),
              Optional.of(boundaries.getLast()),
              ViewPage.VIEWS_MAX,
              cursor);
      page.views().forEach(each -> add(each.time(), 1));
      cursor = page.cursor();
    } while (cursor.isPresent());
    return steps(Optional.of(keptSince), 0);
  }

  private List<Step> whileNoneIsRemoved(
      Supplier<Optional<Instant>> first, Runnable readAll, int scale) {
    for (int i = 0; i < TRIES_MAX; i++) {
      Optional<Instant> before = first.get();
      clear();
      readAll.run();
      if (first.get().equals(before)) {
        return steps(before, scale);
      }
    }
    throw Problem.badRequest("changes were removed during each read; repeat the request");
  }

  private void clear() {
    Arrays.fill(sums, BigInteger.ZERO);
    read = 0;
  }

  private void requireTime() {
    if (!exchange.mayBegin()) {
      throw Problem.badRequest(
          "the changes could not be read in time; use a shorter period, or fewer changes");
    }
  }

  private void add(Instant at, long amount) {
    if (++read > CHANGES_MAX) {
      throw Problem.badRequest(
          "more than %,d changes; use a shorter period".formatted(CHANGES_MAX));
    }
    int found = Collections.binarySearch(boundaries, at);
    int step = found >= 0 ? found : -found - 2;
    if (step >= 0 && step < sums.length) {
      sums[step] = sums[step].add(BigInteger.valueOf(amount));
    }
  }

  private List<Step> steps(Optional<Instant> first, int scale) {
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < sums.length; i++) {
      Instant start = boundaries.get(i);
      boolean isKnown = first.filter(boundaries.get(i + 1)::isAfter).isPresent();
      steps.add(
          new Step(
              isKnown ? Optional.of(new BigDecimal(sums[i], scale)) : Optional.empty(),
              first.filter(each -> isKnown && each.isAfter(start))));
    }
    return steps;
  }
}
