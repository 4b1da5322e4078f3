package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.lock.Locks;
import dev.quipu.region.RegionalCollection;
import dev.quipu.region.Regions;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.ItemCollection;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Merges of changes over three servers of DynamoDB Local with connected streams, whose changes
 * arrive in any order.
 */
final class RegionalMergesTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final String LIKES = "likes";
  private static final int ADDS = 12;
  private static final Duration LAG = Duration.ofSeconds(1);
  private static final Duration STEP = Duration.ofMillis(100);

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final RandomGenerator random = Randomness.seeded(5);
  private final GlobalTables.Global global = GlobalTables.open(clock, Randomness.seeded(6), LAG);

  @AfterEach
  void close() {
    global.close();
  }

  private Regions regions(int region) {
    Map<String, Store> stores = new TreeMap<>();
    for (int i = 0; i < NAMES.size(); i++) {
      StoreDriver seen = global.table().seenFrom(region, i);
      stores.put(NAMES.get(i), new Store(seen, clock, random, RetryPolicy.DEFAULT));
    }
    return new Regions(NAMES.get(region), NAMES, stores);
  }

  private RegionalCollection in(int region) {
    return new RegionalCollection(regions(region), random);
  }

  private void addToAll() {
    for (int i = 0; i < ADDS; i++) {
      Add add = new Add(LIKES, 1, RequestId.of("like " + i));
      assertInstanceOf(AddResult.Applied.class, in(i % NAMES.size()).add(add));
    }
    global.table().settle();
  }

  /** Lets the changes of a merge arrive one after the other, and looks in between. */
  private void whileTheyArrive(IntConsumer look) {
    for (long passed = 0; passed <= LAG.toMillis(); passed += STEP.toMillis()) {
      for (int region = 0; region < NAMES.size(); region++) {
        look.accept(region);
      }
      clock.advance(STEP);
    }
  }

  @Test
  void readersDoNotNoticeAMergeThatArrivesInAnotherOrder() {
    addToAll();
    long before = global.table().overtakings();
    int merged = 0;
    for (int step = 0; step < 6; step++) {
      merged += in(0).merge(LIKES, Duration.ZERO);
      whileTheyArrive(region -> assertEquals(Optional.of((long) ADDS), in(region).readHere(LIKES)));
    }
    assertEquals(ADDS, merged);
    assertTrue(global.table().overtakings() > before, "all arrived in order");
    global.table().settle();
    assertEquals(Optional.of(Reading.exact(ADDS)), in(2).read(LIKES));
  }

  /** The plain merge, which writes the sum and deletes the changes at once. */
  @Test
  void aPlainMergeIsNoticed() {
    addToAll();
    new ItemCollection(regions(0).here(), random).compact(LIKES, Duration.ZERO);
    List<Long> wrong = new ArrayList<>();
    whileTheyArrive(region -> {
      long read =
          new ItemCollection(regions(region).here(), random).read(LIKES).orElseThrow().value();
      if (read != ADDS) {
        wrong.add(read);
      }
    });
    assertNotEquals(List.of(), wrong);
  }

  @Test
  void onlyOneRegionMergesAtATime() {
    addToAll();
    Locks locks = new Locks(regions(1).replica(NAMES.getFirst()), random);
    Locks.Lease lease = locks.acquire("merge/" + LIKES, Duration.ofMinutes(1)).orElseThrow();
    assertEquals(0, in(0).merge(LIKES, Duration.ZERO), "another region holds the lease");
    assertEquals(0, in(2).merge(LIKES, Duration.ZERO), "another region holds the lease");
    locks.release(lease);
    assertEquals(ADDS, in(1).merge(LIKES, Duration.ZERO));
    assertEquals(0, in(2).merge(LIKES, Duration.ZERO), "the first merge is not finished");
    for (int step = 0; step < 6; step++) {
      global.table().settle();
      assertEquals(0, in(step % NAMES.size()).merge(LIKES, Duration.ZERO));
    }
    global.table().settle();
    for (int region = 0; region < NAMES.size(); region++) {
      assertEquals(Optional.of((long) ADDS), in(region).readHere(LIKES));
    }
  }
}
