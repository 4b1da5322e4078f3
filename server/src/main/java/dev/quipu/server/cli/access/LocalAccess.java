package dev.quipu.server.cli.access;

import dev.quipu.Counters;
import dev.quipu.Holds;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.Transactions;
import dev.quipu.client.CounterWatch;
import dev.quipu.layer.Store;
import dev.quipu.presence.Online;
import dev.quipu.presence.Presence;
import dev.quipu.server.rank.Listing;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.Aggregate;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import dev.quipu.view.ViewPage;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;

/** Accesses a data directory, or a store, in this process. */
final class LocalAccess implements Access {
  private final Quipu quipu;
  private final ViewCounter views;
  private final Runnable onClose;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * Creates access to the counters of {@code quipu}, which it closes.
   *
   * @param identity of views
   * @param onClose called when {@code quipu} is closed
   */
  LocalAccess(Quipu quipu, ViewIdentity identity, Runnable onClose) {
    this.quipu = quipu;
    this.views = new ViewCounter(quipu.part(Store.class), ViewOptions.EXACT.by(identity));
    this.onClose = onClose;
  }

  @Override
  public Counters counters() {
    return quipu.counters();
  }

  @Override
  public Transactions transactions() {
    return quipu.part(Transactions.class);
  }

  @Override
  public Holds holds() {
    return quipu.part(Holds.class);
  }

  @Override
  public List<PastValue> history(String name, boolean isSum, PastPeriod period) {
    throw new IllegalArgumentException(
        "history requires a server; start quipu serve --data DIR, and use --server");
  }

  @Override
  public List<Mover> movers(
      Movers of, String prefix, PastPeriod period, boolean isIncrease, int limit) {
    throw new IllegalArgumentException(
        "changes require a server; start quipu serve --data DIR, and use --server");
  }

  @Override
  public void watch(String prefix, boolean present, Predicate<CounterWatch.Event> action) {
    throw new IllegalArgumentException(
        "watch requires a server, since nothing else changes a directory that this command has"
            + " opened; start quipu serve --data DIR, and use --server");
  }

  @Override
  public OptionalLong views(String url, Optional<Instant> from, Optional<Instant> until) {
    return from.isEmpty() && until.isEmpty()
        ? views.count(url)
        : OptionalLong.of(views.count(url, from, until));
  }

  @Override
  public Optional<Aggregate> aggregate(String url) {
    return quipu.part(ViewAggregates.class).ofPage(url);
  }

  @Override
  public Optional<Aggregate> aggregate(String site, Optional<LocalDate> day) {
    ViewAggregates aggregates = quipu.part(ViewAggregates.class);
    return day.isPresent() ? aggregates.ofDay(site, day.get()) : aggregates.ofSite(site);
  }

  @Override
  public Listing pages() {
    return views::pages;
  }

  @Override
  public ViewPage viewPage(
      String url,
      Optional<Instant> from,
      Optional<Instant> until,
      int limit,
      Optional<String> cursor) {
    return views.page(url, from, until, limit, cursor);
  }

  /** Adds groups concurrently, since the store commits concurrent writes together. */
  @Override
  public int addViews(List<ViewEvent> events) {
    List<Future<List<Boolean>>> running = new ArrayList<>();
    int most = views.togetherMax();
    for (int from = 0; from < events.size(); from += most) {
      int to = Math.min(from + most, events.size());
      List<ViewEvent> group = List.copyOf(events.subList(from, to));
      running.add(executor.submit(() -> views.addAll(group)));
    }
    int counted = 0;
    for (Future<List<Boolean>> each : running) {
      try {
        counted += Collections.frequency(each.get(), true);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof QuipuException known
            ? known
            : new IllegalStateException(e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new OutcomeUnknownException(Reason.UNAVAILABLE, "interrupted", e);
      }
    }
    return counted;
  }

  @Override
  public Online online(String room) {
    return quipu.part(Presence.class).online(room);
  }

  @Override
  public void seen(String room, String client) {
    quipu.part(Presence.class).seen(room, client);
  }

  @Override
  public SequenceAccess sequences() {
    return new LocalSequences(quipu);
  }

  @Override
  public LedgerPage changes(String counter, Optional<Place> after, int limit) {
    throw new IllegalArgumentException(
        "a data directory keeps no changes; use --server, with a server that was started with"
            + " --technique item-collection");
  }

  @Override
  public ThresholdCalls thresholds() {
    throw new IllegalArgumentException(
        "a data directory sends nothing to webhooks; use --server, with a server that was started"
            + " with --webhook-allow");
  }

  @Override
  public HitCalls hits() {
    throw new IllegalArgumentException(
        "a data directory keeps no hits; use --server, with a server that was started with"
            + " --technique hit-log");
  }

  @Override
  public void close() {
    executor.close();
    quipu.close();
    onClose.run();
  }
}
