package dev.quipu.server.cli.access;

import dev.quipu.Counters;
import dev.quipu.Holds;
import dev.quipu.Transactions;
import dev.quipu.client.CounterWatch;
import dev.quipu.presence.Online;
import dev.quipu.server.rank.Listing;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import dev.quipu.view.ViewAggregates.Aggregate;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewPage;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;

/** Access of commands to counters: on a running server, or in a data directory. */
public interface Access extends AutoCloseable {
  /** Returns the counters. */
  Counters counters();

  /**
   * Returns transactions over several counters.
   *
   * @throws UnsupportedOperationException naming the stores that support them, if this one does not
   */
  Transactions transactions();

  /**
   * Returns holds.
   *
   * @throws UnsupportedOperationException naming the stores that support them, if this one does not
   */
  Holds holds();

  /**
   * Lists viewed pages with their unique views, as counters.
   *
   * @throws UnsupportedOperationException if the store does not list them
   */
  Listing pages();

  /** Returns the unique views of a page; empty if it was never viewed. */
  OptionalLong views(String url, Optional<Instant> from, Optional<Instant> until);

  /** Returns the aggregate of a page; empty if it has no views. */
  Optional<Aggregate> aggregate(String url);

  /** Returns the aggregate of a site, on a day in UTC if given; empty if it has no views. */
  Optional<Aggregate> aggregate(String site, Optional<LocalDate> day);

  /** Returns a page of the views of a page in a period; see {@link ViewCounter#page}. */
  ViewPage viewPage(
      String url,
      Optional<Instant> from,
      Optional<Instant> until,
      int limit,
      Optional<String> cursor);

  /**
   * Counts views.
   *
   * @return the number that counted now; the others had been counted before
   */
  int addViews(List<ViewEvent> events);

  /** Returns the number of clients online in a room. */
  Online online(String room);

  /** Records that a client is in a room now. */
  void seen(String room, String client);

  /**
   * Returns calls on the stored hits of counters.
   *
   * @throws IllegalArgumentException in a data directory, which keeps no hits
   */
  HitCalls hits();

  /**
   * Returns calls on thresholds.
   *
   * @throws IllegalArgumentException in a data directory
   */
  ThresholdCalls thresholds();

  /** Returns the sequences of records. */
  SequenceAccess sequences();

  /**
   * Returns a page of the changes of a counter that are not compacted, ordered by time.
   *
   * @param after the last change of the previous page
   */
  LedgerPage changes(String counter, Optional<Place> after, int limit);

  /**
   * Passes on the changes of counters with a prefix until the action returns false.
   *
   * @param present whether to pass on the present counters first
   * @throws IllegalArgumentException in a data directory, which nothing else changes
   */
  void watch(String prefix, boolean present, Predicate<CounterWatch.Event> action);

  /**
   * Returns what happened to a counter in the past, or to all with a prefix.
   *
   * @throws IllegalArgumentException in a data directory
   */
  List<PastValue> history(String name, boolean isSum, PastPeriod period);

  /** What can be ordered by change. */
  enum Movers {
    COUNTERS("/v1/counters", "counters", "name"),
    PAGES("/v1/views/pages", "pages", "url");

    final String path;
    final String list;
    final String name;

    Movers(String path, String list, String name) {
      this.path = path;
      this.list = list;
      this.name = name;
    }
  }

  /**
   * Returns what changed most since the begin of a period, of that whose names have a prefix.
   *
   * @param isIncrease whether those that increased come first
   * @throws IllegalArgumentException in a data directory
   */
  List<Mover> movers(Movers of, String prefix, PastPeriod period, boolean isIncrease, int limit);

  @Override
  void close();
}
