package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.Aggregate;
import dev.quipu.view.ViewAggregates.StoredView;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** The contract of {@link ViewAggregates} on every store. */
public abstract class AggregatesContract extends EmptyStoreFixture {
  private static final String SITE = "blog.example";
  private static final String PAGE = "https://Blog.example/article?a=1";
  private static final Instant TIME = Instant.parse("2022-03-28T23:59:59Z");
  private static final LocalDate DAY = LocalDate.parse("2022-03-28");
  private static final Duration WEEK = Duration.ofDays(7);

  /** For subclasses. */
  protected AggregatesContract() {}

  private ViewAggregates aggregates() {
    assumeTrue(
        driver.profile().atomicity() == Atomicity.STORE
            && driver.profile().has(Capability.ATOMIC_BATCH),
        "no batches over pages and sites");
    assumeTrue(driver.profile().has(Capability.ORDERED_SCAN), "no scan of the items of a page");
    return new ViewAggregates(store, Optional.of(WEEK));
  }

  /** Returns the items of a page, as a stream delivers them. */
  private List<Item> items(String url) {
    List<Item> all = new ArrayList<>();
    store.scanAll(Scan.all("views/" + url), all::addAll);
    return all;
  }

  private static Optional<StoredView> view(Item item) {
    return StoredView.of(item.key().partition(), item.key().sort(), item.fields());
  }

  private List<StoredView> stored(String url) {
    return items(url).stream().map(AggregatesContract::view).flatMap(Optional::stream).toList();
  }

  @Test
  final void eachStoredViewIsAddedOnceToItsPageSiteAndDay() {
    ViewAggregates aggregates = aggregates();
    for (ViewIdentity identity : List.of(ViewIdentity.EVENT, ViewIdentity.HASH)) {
      String page = PAGE + identity.name();
      ViewCounter views = new ViewCounter(store, ViewOptions.EXACT.by(identity));
      views.add(new ViewEvent(page, TIME, "a").with(10));
      views.add(new ViewEvent(page, TIME, "b").with(5));
      views.add(new ViewEvent(page, TIME.plusSeconds(1), "a")); // the next day, without a value
      List<StoredView> stored = stored(page);
      assertEquals(3, stored.size(), "the number of views itself is no view");
      aggregates.add(stored.subList(0, 1));
      aggregates.add(stored); // one of them is a repeat
      aggregates.add(stored);
      aggregates.add(List.of(stored.get(2), stored.get(2)));
      assertEquals(Optional.of(new Aggregate(3, 2, 15)), aggregates.ofPage(page));
    }
    assertEquals(Optional.of(new Aggregate(6, 4, 30)), aggregates.ofSite(SITE));
    assertEquals(Optional.of(new Aggregate(4, 4, 30)), aggregates.ofDay(SITE, DAY));
    assertEquals(Optional.of(new Aggregate(2, 0, 0)), aggregates.ofDay(SITE, DAY.plusDays(1)));
    assertEquals(OptionalDouble.of(7.5), aggregates.ofDay(SITE, DAY).orElseThrow().average());
    assertTrue(aggregates.ofDay(SITE, DAY.plusDays(1)).orElseThrow().average().isEmpty());
    assertEquals(Optional.empty(), aggregates.ofPage("elsewhere"));
  }

  @Test
  final void aViewThatIsCountedAgainAfterItsRetentionIsAggregatedAgain() {
    ViewAggregates aggregates = aggregates();
    ViewCounter views = new ViewCounter(store, ViewOptions.EXACT.keeping(Duration.ofDays(1)));
    for (int round = 1; round <= 2; round++) {
      views.add(new ViewEvent(PAGE, TIME, "a"));
      aggregates.add(stored(PAGE));
      aggregates.add(stored(PAGE));
      assertEquals(round, views.count(PAGE).orElseThrow());
      assertEquals(round, aggregates.ofPage(PAGE).orElseThrow().views());
      clock.advance(Duration.ofDays(1));
    }
  }

  @Test
  final void concurrentDeliveriesAreAddedOnce() throws Exception {
    ViewAggregates aggregates = aggregates();
    ViewCounter views = new ViewCounter(store);
    for (int i = 0; i < 40; i++) {
      views.add(new ViewEvent(PAGE, TIME, "client " + i).with(i));
    }
    List<StoredView> stored = stored(PAGE);
    ConcurrentClients.run(
        4,
        client -> {
          for (int from = client; from < stored.size(); from += 5) {
            aggregates.add(
                stored.subList(from, Math.min(stored.size(), from + aggregates.togetherMax())));
          }
          aggregates.add(stored.subList(0, 4));
          return client;
        });
    Optional<Aggregate> expected = Optional.of(new Aggregate(40, 40, 39 * 40 / 2));
    assertEquals(expected, aggregates.ofPage(PAGE));
    assertEquals(expected, aggregates.ofSite(SITE));
  }

  @Test
  final void theLongestUrlIsAggregatedUnderItsOwnName() {
    ViewAggregates aggregates = aggregates();
    String url = PAGE + "x".repeat(2_048 - PAGE.length());
    new ViewCounter(store).add(new ViewEvent(url, TIME, "a"));
    Item marker = items(url).stream().filter(it -> view(it).isPresent()).findFirst().orElseThrow();
    String hashed = Key.shortened(marker.key().partition(), 2_048);
    aggregates.add(
        List.of(StoredView.of(hashed, marker.key().sort(), marker.fields()).orElseThrow()));
    assertEquals(Optional.of(new Aggregate(1, 0, 0)), aggregates.ofPage(url));
  }

  @Test
  final void whatIsNoViewAndWhatExceedsALimitIsRejected() {
    ViewAggregates aggregates = aggregates();
    Map<String, Field> text = Map.of("call", new Field.Text("1"));
    String page = "views/" + PAGE;
    assertThrows(
        IllegalArgumentException.class, () -> StoredView.of(page, "T#yesterday#CID#a", Map.of()));
    assertThrows(
        IllegalArgumentException.class,
        () -> StoredView.of(page, "T#2022-03-28T00:00:00.000000000Z#CID#a", text));
    assertEquals(Optional.empty(), StoredView.of(page, "STATISTICS", Map.of()));
    assertEquals(Optional.empty(), StoredView.of("other/" + PAGE, "T#2022-03-28", Map.of()));
    StoredView view = new StoredView("id", PAGE, DAY, Optional.empty());
    assertThrows(
        IllegalArgumentException.class,
        () -> aggregates.add(Collections.nCopies(aggregates.togetherMax() + 1, view)));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ViewAggregates(store, Optional.of(Duration.ofDays(1))));
    assertThrows(IllegalArgumentException.class, () -> new ViewEvent(PAGE, TIME, "a").with(-1));
    assertThrows(
        IllegalArgumentException.class, () -> new ViewEvent(PAGE, TIME, "a").with(1_000_000_001));
    assertEquals(Optional.empty(), aggregates.ofPage(PAGE));
  }
}
