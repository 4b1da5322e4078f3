package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.Uncertainty;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionalCollection;
import dev.quipu.region.Regions;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.technique.ItemCollection;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The steps of a merge over regions: what each merges, and what makes it wait or stop. */
final class RegionalMergeTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final String LIKES = "likes";
  private static final String ROWS = "counter/" + LIKES;
  private static final Duration NO_WINDOW = Duration.ZERO;
  private static final long LATER = Long.MAX_VALUE; // a fence

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final RandomGenerator random = Randomness.seeded(1);
  private final GlobalTable<Key, Item> table =
      GlobalTable.inMemory(NAMES.size(), clock, random, Duration.ZERO);

  private Store store(int from, int to, ReplicaHook... all) {
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));
    StoreDriver driver = table.seenFrom(from, to);
    for (ReplicaHook each : all) {
      driver = each.hook(NAMES.get(to), driver);
    }
    return new Store(driver, clock, random, once);
  }

  private RegionalCollection in(String region, ReplicaHook... all) {
    Map<String, Store> stores = new TreeMap<>();
    for (String name : NAMES) {
      stores.put(name, store(NAMES.indexOf(region), NAMES.indexOf(name), all));
    }
    return new RegionalCollection(new Regions(region, NAMES, stores), random);
  }

  private void add(String region, long delta, String id) {
    Add add = new Add(LIKES, delta, RequestId.of(id));
    assertInstanceOf(AddResult.Applied.class, in(region).add(add));
    table.settle();
  }

  private int merge(String region) {
    int merged = in(region).merge(LIKES, NO_WINDOW);
    table.settle();
    return merged;
  }

  private Optional<Item> sum(String region) {
    return table
        .region(NAMES.indexOf(region))
        .get(new Key(ROWS, "merged/" + region), Consistency.STRONG);
  }

  private void writeFence(String region, long fence) {
    var unused =
        table
            .region(NAMES.indexOf(region))
            .write(
                new Write.Update(
                    new Key(ROWS, "merged/" + region),
                    List.of(new Change.Put("fence", new Field.Number(fence))),
                    Condition.always()));
  }

  private void readsEverywhere(long value) {
    for (String region : NAMES) {
      assertEquals(Optional.of(Reading.exact(value)), in(region).read(LIKES));
      assertEquals(Optional.of(value), in(region).readHere(LIKES));
    }
  }

  @Test
  void theThirdMergeAfterAChangeMergesTheNext() {
    add("ap", 5, "one");
    assertEquals(1, merge("ap"));
    assertEquals(1, sum("ap").orElseThrow().number("step"));
    add("eu", 7, "two");
    assertEquals(0, merge("eu"), "the change is deleted");
    assertEquals(1, merge("eu"), "its name is no longer needed");
    readsEverywhere(12);
    assertEquals(0, merge("eu"));
    assertEquals(0, merge("us"));
    readsEverywhere(12);
    assertEquals(7, sum("eu").orElseThrow().number("value"));
  }

  @Test
  void aChangeIsMergedWhenItIsAsOldAsTheWindow() {
    Duration window = Duration.ofMinutes(10);
    add("ap", 5, "one");
    clock.advance(window.minusMillis(1));
    assertEquals(0, in("ap").merge(LIKES, window));
    clock.advance(Duration.ofMillis(1));
    assertEquals(1, in("ap").merge(LIKES, window));
  }

  @Test
  void aMergeTakesAtMost500Changes() {
    for (int i = 0; i < 501; i++) {
      in("ap").add(new Add(LIKES, 1, RequestId.of("id " + i)));
    }
    table.settle();
    assertEquals(500, merge("ap"));
    readsEverywhere(501);
  }

  @Test
  void aMergeStopsAtTheFirstLaterFence() {
    add("ap", 5, "one");
    writeFence("ap", LATER);
    table.settle();
    assertEquals(0, merge("ap"));
    assertEquals(LATER, sum("ap").orElseThrow().number("fence"));
    assertEquals(Optional.empty(), sum("eu"), "it asked no other region");
    readsEverywhere(5);
  }

  @Test
  void aMergeStopsIfALaterHolderOfTheLeaseWasFaster() {
    add("ap", 5, "one");
    ReplicaHook later = ReplicaHook.afterScan("ap", ROWS, 3, () -> writeFence("ap", LATER));
    assertEquals(0, in("ap", later).merge(LIKES, NO_WINDOW));
    assertTrue(later.hasHappened());
    assertEquals(0, sum("ap").orElseThrow().number("value"));
    readsEverywhere(5);
  }

  @Test
  void aMergeNamesTheRegionThatItWaitsFor() {
    add("ap", 5, "one");
    String why = "merging waits for regions that do not respond: [us]";
    RegionalCollection ap =
        in("ap", ReplicaHook.afterWrite("us", "merged/us", () -> table.cutOff(2)));
    QuipuException since = assertThrows(QuipuException.class, () -> ap.merge(LIKES, NO_WINDOW));
    assertEquals(why, since.getMessage());
    QuipuException before =
        assertThrows(QuipuException.class, () -> in("ap").merge(LIKES, NO_WINDOW));
    assertEquals(why, before.getMessage());
  }

  @Test
  void changesStayIfTheirSumHasMoreThan64Bits() {
    add("ap", Long.MAX_VALUE, "one");
    add("eu", Long.MAX_VALUE, "two");
    assertEquals(0, merge("ap"));
    Reading reading = in("us").read(LIKES).orElseThrow();
    assertEquals(Long.MAX_VALUE, reading.value());
    assertEquals(Uncertainty.Cause.OVERFLOW, reading.uncertainties().getFirst().cause());
  }

  @Test
  void aCounterThatWasNeverUsedHasNoReadingUnlessARegionIsSilent() {
    assertEquals(0, merge("ap"));
    assertEquals(Optional.empty(), in("ap").read(LIKES));
    assertEquals(Optional.empty(), in("ap").readHere(LIKES));
    table.cutOff(2);
    Reading unsure = in("ap").read(LIKES).orElseThrow();
    assertEquals("us", unsure.uncertainties().getFirst().where());
  }

  @Test
  void whatWasCountedInOneRegionBeforeIsPartOfTheSum() {
    ItemCollection alone = new ItemCollection(store(0, 0), random);
    alone.add(new Add(LIKES, 40, RequestId.of("early")));
    assertEquals(1, alone.compact(LIKES, NO_WINDOW));
    table.settle();
    readsEverywhere(40);
    add("us", 2, "late");
    readsEverywhere(42);
  }
}
