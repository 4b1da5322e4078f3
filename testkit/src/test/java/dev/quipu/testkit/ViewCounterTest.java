package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Views whose replies are lost, and views that are counted together. */
final class ViewCounterTest {
  private static final String PAGE = "https://a.example/page";
  private static final Instant TIME = Instant.parse("2026-11-22T10:00:00Z");
  private static final ViewEvent EVENT = event(0);
  private static final ViewOptions NAIVE = ViewOptions.EXACT.in(ViewOptions.Form.NAIVE);
  private static final ViewOptions IF_NOT_EXISTS =
      ViewOptions.EXACT.in(ViewOptions.Form.IF_NOT_EXISTS);

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final MemoryDriver driver = new MemoryDriver();
  private final CallScript script = new CallScript();
  private final Store store = new Store(script.around(driver), clock);
  private final ViewCounter views = new ViewCounter(store);

  private static ViewEvent event(int second) {
    return new ViewEvent(PAGE, TIME.plusSeconds(second), "client");
  }

  @Test
  void aViewWhoseReplyWasLostCountsNowIfItIsItsOwn() {
    script.replyLost(CallScript.to("views/"));
    assertTrue(views.add(EVENT));
    assertTrue(script.isDone());
    assertFalse(views.add(EVENT));
    script.before(CallScript.to("views/"), () -> assertTrue(new ViewCounter(store).add(event(1))));
    assertFalse(views.add(event(1)), "another delivery of it came first");
    assertEquals(OptionalLong.of(2), views.count(PAGE));
  }

  @Test
  void aNumberHas64BitsAndNoMore() {
    Change.Add most = new Change.Add("views", Long.MAX_VALUE);
    Key number = new Key("views/" + PAGE, "STATISTICS");
    driver.write(new Write.Update(number, List.of(most), Condition.always()));
    QuipuException e = assertThrows(QuipuException.class, () -> views.add(EVENT));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.INVALID, e.reason());
    assertEquals(0, views.count(PAGE, Optional.empty(), Optional.empty()), "nor is there a marker");
    for (ViewOptions form : List.of(NAIVE, IF_NOT_EXISTS)) {
      assertFalse(new ViewCounter(store, form).add(EVENT), "it did not count");
    }
    assertEquals(OptionalLong.of(Long.MAX_VALUE), views.count(PAGE));
  }

  @Test
  void severalAreCountedTogetherIfAllAreNew() {
    assertTrue(views.addTogether(List.of(EVENT, event(1))));
    assertEquals(OptionalLong.of(2), views.count(PAGE));
    assertFalse(views.addTogether(List.of(event(2), event(1))), "one has counted");
    assertFalse(views.addTogether(List.of(event(2), event(2))), "two are the same");
    assertEquals(OptionalLong.of(2), views.count(PAGE));
    List<ViewEvent> most = new ArrayList<>();
    int room = store.profile().batchItemsMax() - 1; // and one for the number
    for (int i = 0; i < room; i++) {
      most.add(event(10 + i));
    }
    assertTrue(views.addTogether(most));
    assertEquals(OptionalLong.of(2L + room), views.count(PAGE));
    most.replaceAll(each -> new ViewEvent(PAGE, each.time(), "other"));
    most.add(EVENT);
    assertFalse(views.addTogether(most), "too many");
    assertFalse(
        new ViewCounter(store, IF_NOT_EXISTS).addTogether(List.of(event(5))),
        "this form counts what is delivered");
  }

  @Test
  void aStoreThatCannotDoItIsRejectedBeforeAnythingIsWritten() {
    for (Capability needed :
        List.of(Capability.ATOMIC_BATCH, Capability.STRONG_READ, Capability.NATIVE_UPDATE)) {
      Set<Capability> less = EnumSet.copyOf(driver.profile().capabilities());
      less.remove(needed);
      ViewCounter without = new ViewCounter(new Store(new LimitedDriver(driver, less), clock));
      assertThrows(UnsupportedOperationException.class, () -> without.add(EVENT));
      if (needed != Capability.ATOMIC_BATCH) {
        assertThrows(
            UnsupportedOperationException.class, () -> without.addTogether(List.of(EVENT)));
      }
      assertEquals(OptionalLong.empty(), views.count(PAGE));
    }
  }

  @Test
  void aStoreWhoseBatchesLieInOnePartitionCountsPagesAlone() {
    Store pages = new Store(ProfiledDriver.divided(driver), clock);
    ViewOptions sites = ViewOptions.EXACT.counting(ViewOptions.Counted.SITE);
    ViewCounter both = new ViewCounter(pages, sites);
    UnsupportedOperationException e =
        assertThrows(UnsupportedOperationException.class, () -> both.add(EVENT));
    assertEquals("store divided has no batches over pages and sites", e.getMessage());
    assertTrue(new ViewCounter(pages).add(EVENT));
    assertEquals(OptionalLong.of(1), views.count(PAGE));
  }

  @Test
  void aMarkerOfAnEventIsFoundByItsTime() {
    views.add(EVENT);
    Scan byTime =
        new Scan(
            "views/" + PAGE,
            "T#2026-11-22T10:00:00",
            Optional.of("T#2026-11-22T10:00:01"),
            false,
            9,
            Consistency.STRONG);
    assertEquals(1, ScanDriver.of(driver).scan(byTime).items().size());
  }

  @Test
  void theNaiveFormNeverCountsTheFirst() {
    ViewCounter naive = new ViewCounter(store, NAIVE);
    QuipuException e = assertThrows(QuipuException.class, () -> naive.add(EVENT));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertTrue(new ViewCounter(store, IF_NOT_EXISTS).add(EVENT));
    assertTrue(naive.add(EVENT));
    assertEquals(OptionalLong.of(2), views.count(PAGE));
    assertEquals(NAIVE, naive.options());
  }

  @Test
  void viewsBetweenMomentsAreCountedByWhateverIdentity() {
    ViewOptions byClient = ViewOptions.EXACT.by(ViewIdentity.CLIENT);
    for (ViewCounter each : List.of(views, new ViewCounter(store, byClient))) {
      each.add(new ViewEvent(PAGE + each.options().identity().name(), TIME, "one"));
      each.add(new ViewEvent(PAGE + each.options().identity().name(), TIME.plusSeconds(1), "two"));
      String page = PAGE + each.options().identity().name();
      Optional<Instant> second = Optional.of(TIME.plusSeconds(1));
      assertEquals(2, each.count(page, Optional.empty(), Optional.empty()));
      assertEquals(1, each.count(page, second, Optional.empty()));
      assertEquals(1, each.count(page, Optional.empty(), second));
      assertEquals(0, each.count(page, second, second));
    }
  }
}
