package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Sweeper;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import dev.quipu.view.ViewPage;
import dev.quipu.view.ViewPage.CountedView;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The contract of {@link ViewCounter} on every store, in each of its forms. */
public abstract class ViewsContract extends EmptyStoreFixture {
  private static final String PAGE = "https://Blog.example/article?a=1";
  private static final Instant TIME = Instant.parse("2022-03-28T23:59:59Z");
  private static final Duration WEEK = Duration.ofDays(7);
  private static final int SWEEPS_MAX = 1_000;

  /** For subclasses. */
  protected ViewsContract() {}

  /** See {@link TechniquesContract#isSweptAtOnce}. */
  protected abstract boolean isSweptAtOnce();

  private ViewCounter exact(ViewOptions options) {
    assumeTrue(
        driver.profile().has(Capability.ATOMIC_BATCH),
        () -> driver.profile().lacks(Capability.ATOMIC_BATCH).getMessage());
    return new ViewCounter(store, options);
  }

  private static ViewEvent event(long seconds, String client) {
    return new ViewEvent(PAGE, TIME.plusSeconds(seconds), client);
  }

  @Test
  final void theNaiveFormFailsOnTheFirstViewAndThenCountsRepeats() {
    ViewCounter naive = new ViewCounter(store, ViewOptions.EXACT.in(ViewOptions.Form.NAIVE));
    QuipuException e = assertThrows(QuipuException.class, () -> naive.add(event(0, "a")));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.INVALID, e.reason());
    assertEquals(OptionalLong.empty(), naive.count(PAGE));
    new ViewCounter(store, ViewOptions.EXACT.in(ViewOptions.Form.IF_NOT_EXISTS)).add(event(0, "a"));
    assertTrue(naive.add(event(0, "a")));
    assertEquals(OptionalLong.of(2), naive.count(PAGE));
  }

  @Test
  final void ifNotExistsCountsTheFirstViewAndEveryRepeat() {
    ViewCounter views =
        new ViewCounter(store, ViewOptions.EXACT.in(ViewOptions.Form.IF_NOT_EXISTS));
    for (int i = 0; i < 3; i++) {
      assertTrue(views.add(event(0, "a")));
    }
    assertEquals(OptionalLong.of(3), views.count(PAGE));
  }

  @Test
  final void theExactFormCountsEachIdentityOnce() {
    List<ViewEvent> events =
        List.of(
            event(0, "a"),
            event(0, "a"), // the same
            event(0, "b"), // another client
            event(0, "a"),
            event(-1, "a"), // another second of the same day
            event(1, "a")); // the next day, in UTC
    List<Long> expected = List.of(4L, 2L, 3L, 4L);
    for (int i = 0; i < ViewIdentity.ALL.size(); i++) {
      ViewIdentity identity = ViewIdentity.ALL.get(i);
      ViewCounter views = exact(ViewOptions.EXACT.by(identity));
      String page = PAGE + identity.name();
      long counted = 0;
      for (ViewEvent event : events) {
        counted += views.add(new ViewEvent(page, event.time(), event.clientId())) ? 1 : 0;
      }
      assertEquals(expected.get(i), counted, identity.name());
      assertEquals(expected.get(i), views.count(page).orElseThrow(), identity.name());
      if (driver.profile().has(Capability.ORDERED_SCAN)) {
        assertEquals(
            counted, views.count(page, Optional.empty(), Optional.empty()), identity.name());
        assertEquals(
            identity.equals(ViewIdentity.CLIENT) ? 0 : 1,
            views.count(page, Optional.of(TIME.plusSeconds(1)), Optional.empty()),
            identity.name());
        assertEquals(0, views.count(page, Optional.empty(), Optional.of(TIME.minusSeconds(1))));
      }
    }
  }

  @Test
  final void allViewsOfAPeriodAreReturnedInPages() {
    assumeTrue(driver.profile().has(Capability.ORDERED_SCAN));
    for (ViewIdentity identity : List.of(ViewIdentity.EVENT, ViewIdentity.HASH)) {
      ViewCounter views = exact(ViewOptions.EXACT.by(identity));
      String page = PAGE + "#" + identity.name();
      for (int i = 0; i < 10; i++) {
        views.add(new ViewEvent(page, TIME.plusSeconds(i), "a#CID#" + i).with(i));
      }
      views.add(new ViewEvent(page + "2", TIME.plusSeconds(4), "of another page"));
      Optional<Instant> from = Optional.of(TIME.plusSeconds(3));
      Optional<Instant> until = Optional.of(TIME.plusSeconds(8));
      List<CountedView> found = new ArrayList<>();
      Optional<String> cursor = Optional.empty();
      do {
        ViewPage next = views.page(page, from, until, 2, cursor);
        assertTrue(next.views().size() <= 2);
        found.addAll(next.views());
        cursor = next.cursor();
      } while (cursor.isPresent());
      if (identity.equals(ViewIdentity.HASH)) {
        found.sort(Comparator.comparing(CountedView::time));
      }
      assertEquals(5, found.size(), identity.name());
      for (int i = 0; i < 5; i++) {
        ViewEvent event = new ViewEvent(page, TIME.plusSeconds(3 + i), "a#CID#" + (3 + i));
        boolean hasClient = identity.equals(ViewIdentity.EVENT);
        assertEquals(
            new CountedView(
                page,
                identity.key().apply(event.with(3 + i)),
                event.time(),
                hasClient ? Optional.of(event.clientId()) : Optional.empty(),
                OptionalLong.of(3 + i)),
            found.get(i));
      }
      assertEquals(0, views.page(page, from, from, 2, Optional.empty()).views().size());
      assertPeriodsAreChecked(views, page);
    }
  }

  private static void assertPeriodsAreChecked(ViewCounter views, String page) {
    Optional<Instant> from = Optional.of(TIME.plusSeconds(1));
    Optional<Instant> until = Optional.of(TIME);
    for (Executable wrong :
        List.<Executable>of(
            () -> views.count(page, from, until),
            () -> views.page(page, from, until, 2, Optional.empty()))) {
      String message =
          String.valueOf(assertThrows(IllegalArgumentException.class, wrong).getMessage());
      assertTrue(message.contains("from is " + from.get()), message);
      assertTrue(message.contains("until, " + until.get()), message);
    }
    for (int viewsMax : List.of(0, ViewPage.VIEWS_MAX + 1)) {
      assertThrows(
          IllegalArgumentException.class,
          () -> views.page(page, until, from, viewsMax, Optional.empty()));
    }
    for (String cursor : List.of("", "STATISTICS", "Z")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> views.page(page, until, from, 2, Optional.of(cursor)));
    }
  }

  @Test
  final void anIdentityOfTheUsersOwnIsKeptToItsLimits() {
    ViewCounter odd =
        exact(
            ViewOptions.EXACT.by(
                new ViewIdentity("odd", event -> "x" + event.clientId().length())));
    assertTrue(odd.add(event(0, "ab")));
    assertFalse(odd.add(event(5, "cd")));
    assertTrue(odd.add(event(0, "abc")));
    ViewCounter tooLong =
        exact(ViewOptions.EXACT.by(new ViewIdentity("long", event -> "x".repeat(901))));
    assertThrows(IllegalArgumentException.class, () -> tooLong.add(event(0, "a")));
    assertThrows(IllegalArgumentException.class, () -> ViewIdentity.named("nothing"));
  }

  @Test
  final void oneEventCountsForItsPageItsSiteAndTheSitesDay() {
    ViewOptions all = ViewOptions.EXACT.counting(ViewOptions.Counted.SITE, ViewOptions.Counted.DAY);
    ViewCounter views = exact(all);
    if (driver.profile().atomicity() != Atomicity.STORE) {
      assertThrows(UnsupportedOperationException.class, () -> views.add(event(0, "a")));
      return;
    }
    assertTrue(views.add(event(0, "a")));
    assertFalse(views.add(event(0, "a")));
    assertTrue(views.add(event(1, "a")));
    assertTrue(views.add(new ViewEvent("blog.example/other", TIME, "a")));
    assertEquals(OptionalLong.of(2), views.count(PAGE));
    assertEquals(OptionalLong.of(3), views.countOfSite("blog.example"));
    LocalDate day = LocalDate.parse("2022-03-28");
    assertEquals(OptionalLong.of(2), views.countOfDay("blog.example", day));
    assertEquals(OptionalLong.of(1), views.countOfDay("blog.example", day.plusDays(1)));
    assertEquals(OptionalLong.empty(), views.countOfDay("blog.example", day.plusDays(2)));
    assertEquals(OptionalLong.empty(), views.countOfSite("elsewhere"));
  }

  @Test
  final void aRepeatIsRecognizedWhileViewsAreKeptAndCountsAgainAfterwards() {
    ViewCounter views = exact(ViewOptions.EXACT.keeping(WEEK));
    assertTrue(views.add(event(0, "a")));
    clock.advance(WEEK.minusMillis(1));
    assertFalse(views.add(event(0, "a")));
    clock.advance(Duration.ofMillis(1));
    // From here on it is considered removed, whether or not the store has removed it.
    if (driver.profile().has(Capability.ORDERED_SCAN)) {
      assertEquals(0, views.count(PAGE, Optional.empty(), Optional.empty()));
    }
    assertTrue(views.add(event(0, "a")));
    assertEquals(OptionalLong.of(2), views.count(PAGE));
  }

  @Test
  final void afterTheTimeOnlyTheNumbersAreLeftWhereTheSweeperWorks() {
    ViewCounter views = exact(ViewOptions.EXACT.keeping(WEEK));
    for (int i = 0; i < 30; i++) {
      views.add(event(i, "a"));
    }
    clock.advance(WEEK.plus(Sweeper.KEPT).minusMillis(1));
    assertEquals(0, Sweeper.sweep(store));
    clock.advance(Duration.ofMillis(1));
    if (driver.profile().has(Capability.NATIVE_EXPIRY)) {
      assertEquals(0, Sweeper.sweep(store), "the store removes them itself");
    } else {
      sweepAll(30);
    }
    assertEquals(OptionalLong.of(30), views.count(PAGE));
  }

  /** Repeats the sweep where it sees some expired items only later. */
  private void sweepAll(long expired) {
    long removed = Sweeper.sweep(store);
    for (int i = 1; i < SWEEPS_MAX && removed < expired && !isSweptAtOnce(); i++) {
      removed += Sweeper.sweep(store);
    }
    assertEquals(expired, removed, "items that were removed");
    if (driver.profile().has(Capability.ORDERED_SCAN)) {
      Scan all = Scan.all("views/" + PAGE);
      assertEquals(1, ScanDriver.of(driver).scan(all).items().size(), "the number of views");
    }
    assertEquals(0, Sweeper.sweep(store));
  }

  @Test
  final void severalCountTogetherOnlyIfNoneHasCountedBefore() {
    ViewCounter views = exact(ViewOptions.EXACT);
    List<ViewEvent> events =
        List.of(event(0, "a"), event(0, "b"), new ViewEvent("other", TIME, "a"));
    if (driver.profile().atomicity() != Atomicity.STORE) {
      assertFalse(views.addTogether(events));
      assertEquals(OptionalLong.empty(), views.count(PAGE));
      return;
    }
    assertTrue(views.addTogether(events));
    assertEquals(OptionalLong.of(2), views.count(PAGE));
    assertEquals(OptionalLong.of(1), views.count("other"));
    assertFalse(views.addTogether(events), "they counted before");
    assertFalse(views.addTogether(List.of(event(7, "a"), event(0, "b"))), "one of them did");
    assertFalse(views.addTogether(List.of(event(8, "a"), event(8, "a"))), "they are the same");
    assertEquals(OptionalLong.of(2), views.count(PAGE));
    assertTrue(views.add(event(7, "a")), "nothing of what was rejected is stored");
  }

  @Test
  final void severalAreCountedEachOnceWhateverCountedBefore() {
    ViewCounter views = exact(ViewOptions.EXACT);
    assertTrue(views.add(event(1, "b")));
    assertEquals(
        List.of(true, false, true, false, false),
        inGroups(
            views,
            List.of(event(0, "a"), event(1, "b"), event(2, "c"), event(0, "a"), event(2, "c"))));
    assertEquals(List.of(false, true), inGroups(views, List.of(event(0, "a"), event(3, "d"))));
    assertEquals(List.of(false, false), inGroups(views, List.of(event(3, "d"), event(2, "c"))));
    assertEquals(OptionalLong.of(4), views.count(PAGE));
    int most = views.togetherMax();
    assertThrows(
        IllegalArgumentException.class,
        () -> views.addAll(Collections.nCopies(most + 1, event(0, "a"))));
  }

  private static List<Boolean> inGroups(ViewCounter views, List<ViewEvent> events) {
    List<Boolean> counted = new ArrayList<>();
    int most = views.togetherMax();
    for (int from = 0; from < events.size(); from += most) {
      counted.addAll(views.addAll(events.subList(from, Math.min(from + most, events.size()))));
    }
    return counted;
  }

  @Test
  final void concurrentGroupsWithTheSameViewsCountOnce() throws Exception {
    ViewCounter views = exact(ViewOptions.EXACT);
    int each = 24;
    int step = 8;
    int clients = 4;
    List<Long> counted =
        ConcurrentClients.run(
            clients,
            client -> {
              List<ViewEvent> events = new ArrayList<>();
              for (int i = 0; i < each; i++) {
                events.add(event((long) client * step + i, "a")); // overlaps with its neighbors
              }
              return inGroups(views, events).stream().filter(it -> it).count();
            });
    long distinct = (clients - 1L) * step + each;
    assertEquals(distinct, counted.stream().mapToLong(Long::longValue).sum());
    assertEquals(OptionalLong.of(distinct), views.count(PAGE));
  }

  @Test
  final void concurrentDeliveriesCountOnce() throws Exception {
    ViewCounter views = exact(ViewOptions.EXACT);
    List<Integer> counted =
        ConcurrentClients.run(
            8,
            client -> {
              int own = 0;
              for (int i = 0; i < 20; i++) {
                own += views.add(event(i, "a")) ? 1 : 0;
              }
              return own;
            });
    assertEquals(20, counted.stream().mapToInt(Integer::intValue).sum());
    assertEquals(OptionalLong.of(20), views.count(PAGE));
  }

  @Test
  final void unsupportedInputIsRejected() {
    assertThrows(IllegalArgumentException.class, () -> ViewOptions.EXACT.keeping(Duration.ZERO));
    assertThrows(
        IllegalArgumentException.class,
        () -> ViewOptions.EXACT.keeping(ViewOptions.KEEP_MAX.plusDays(1)));
    assertThrows(
        IllegalArgumentException.class,
        () -> ViewOptions.EXACT.keeping(WEEK).in(ViewOptions.Form.NAIVE));
    if (!driver.profile().has(Capability.ATOMIC_BATCH)) {
      ViewCounter views = new ViewCounter(store);
      assertThrows(UnsupportedOperationException.class, () -> views.add(event(0, "a")));
    }
  }
}
