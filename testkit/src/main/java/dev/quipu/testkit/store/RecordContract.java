package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.key;
import static dev.quipu.testkit.store.StoreFixture.number;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.region.RegionOptions;
import dev.quipu.shard.ShardOptions;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The record of a store, and that a process with other values may not write to it. */
interface RecordContract extends StoreFixture {
  /** The values of one process. */
  StoreRecord ONE = StoreRecord.of(AtomicAdd.SPEC, Optional.empty());

  /** The values of another process. */
  StoreRecord OTHER = StoreRecord.of(TokenSet.SPEC, Optional.empty());

  private RecordGuard guard(StoreRecord record) {
    return new RecordGuard(store(), record, "quipu adopt STORE-URI --technique x");
  }

  /** Returns the store as seen by a process with a guard; it does not wait for a lease. */
  private Store guarded(RecordGuard guard) {
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));
    return new Store(guard.over(driver()), clock(), Randomness.secure(), once);
  }

  private static QuipuException rejected(Store store, Write write) {
    QuipuException e = assertThrows(QuipuException.class, () -> store.write(write));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    return e;
  }

  @Test
  default void anEmptyStoreTakesTheRecordOfTheFirstProcess() {
    RecordGuard first = guard(ONE);
    Write write = number(key("a"), 1);
    assertEquals(Reason.UNAVAILABLE, rejected(guarded(first), write).reason()); // not yet
    assertEquals(Optional.empty(), first.check());
    applied(guarded(first).write(write));
    RecordGuard second = guard(ONE);
    assertEquals(Optional.empty(), second.check());
    applied(guarded(second).write(write));
    for (StoreRecord different :
        List.of(
            OTHER,
            StoreRecord.inRegions(List.of("eu"), RegionOptions.DEFAULT),
            ONE.divided(ShardOptions.fixed(2)),
            ONE.divided(ShardOptions.fixed(2).within(Bounds.atLeast(0))))) {
      RecordGuard third = guard(different);
      String why = third.check().orElseThrow();
      assertTrue(why.contains("quipu adopt STORE-URI --technique x"), why);
      QuipuException e = rejected(guarded(third), number(key("b"), 1));
      assertEquals(Reason.DENIED, e.reason());
    }
    assertEquals(Optional.empty(), get(key("b")));
    assertEquals(Optional.empty(), second.check());
  }

  @Test
  default void ofProcessesThatBeginAtOnceOnlyThoseThatAgreeWrite() throws Exception {
    List<Future<Boolean>> ones = new ArrayList<>();
    List<Future<Boolean>> others = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 4; i++) {
        ones.add(executor.submit(() -> guard(ONE).check().isEmpty()));
        others.add(executor.submit(() -> guard(OTHER).check().isEmpty()));
      }
      boolean oneWins = ones.getFirst().get();
      for (int i = 0; i < 4; i++) {
        assertEquals(oneWins, ones.get(i).get());
        assertEquals(!oneWins, others.get(i).get());
      }
    }
  }

  @Test
  default void aStoreWithCountersAndWithoutARecordMustBeAdopted() throws Exception {
    new AtomicAdd(store()).add(new Add("likes", 35, null));
    boolean knows = store().profile().has(Capability.ORDERED_SCAN);
    if (!knows) { // no names of counters either, so it is considered empty
      assertEquals(Optional.empty(), guard(ONE).check());
      return;
    }
    RecordGuard guard = guard(ONE);
    String why = guard.check().orElseThrow();
    assertTrue(why.contains("no record") && why.contains("run: quipu adopt STORE-URI"), why);
    assertEquals(Reason.DENIED, rejected(guarded(guard), number(key("a"), 1)).reason());
    assertEquals(Optional.empty(), RecordGuard.adopt(store(), ONE));
    assertEquals(Optional.empty(), guard.check());
    applied(guarded(guard).write(number(key("a"), 1)));
  }

  @Test
  default void aLeaseThatIsNotRenewedEnds() {
    RecordGuard guard = guard(ONE);
    assertEquals(Optional.empty(), guard.check());
    clock().advance(RecordGuard.LEASE.minusMillis(1));
    applied(guarded(guard).write(number(key("a"), 1)));
    clock().advance(Duration.ofMillis(1));
    QuipuException e = rejected(guarded(guard), number(key("a"), 2));
    assertEquals(Reason.UNAVAILABLE, e.reason());
    assertTrue(guard.impediment().isPresent());
    assertEquals(Optional.empty(), guard.check());
    applied(guarded(guard).write(number(key("a"), 3)));
    assertEquals(3, item("a").number(N));
  }

  @Test
  default void aRunningProcessStopsWhenAnotherRecordIsAdopted() throws Exception {
    RecordGuard running = guard(ONE);
    assertEquals(Optional.empty(), running.check());
    long before = clock().nanoTime();
    assertTrue(RecordGuard.adopt(store(), OTHER).orElseThrow().contains(AtomicAdd.SPEC.name()));
    long waited = clock().nanoTime() - before;
    assertTrue(waited >= RecordGuard.LEASE.plus(RecordGuard.PATIENCE).toNanos(), "no wait");
    rejected(guarded(running), number(key("a"), 1)); // although it did not check
    assertTrue(running.check().isPresent());
    assertEquals(Reason.DENIED, rejected(guarded(running), number(key("a"), 1)).reason());
    assertEquals(Optional.empty(), guard(OTHER).check());
    RecordGuard.adopt(store(), ONE);
    assertEquals(Optional.empty(), running.check());
    applied(guarded(running).write(number(key("a"), 1)));
  }

  @Test
  default void anInterruptedAdoptionBlocksWritesUntilItIsRepeated() {
    assertEquals(Optional.empty(), guard(ONE).check());
    Store interrupted =
        new Store(driver(), new Dying(clock()), Randomness.secure(), RetryPolicy.DEFAULT);
    assertThrows(InterruptedException.class, () -> RecordGuard.adopt(interrupted, OTHER));
    for (StoreRecord each : List.of(ONE, OTHER)) {
      String why = guard(each).check().orElseThrow();
      assertTrue(why.contains("is being replaced by quipu adopt; wait"), why);
      assertFalse(why.contains("--technique"), why); // a second adoption would not help
    }
    assertDoesNotThrow(() -> RecordGuard.adopt(store(), OTHER));
    assertEquals(Optional.empty(), guard(OTHER).check());
  }

  /** The clock of a process that crashes while it waits. */
  record Dying(Clock clock) implements Clock {
    @Override
    public long epochMillis() {
      return clock.epochMillis();
    }

    @Override
    public long nanoTime() {
      return clock.nanoTime();
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      throw new InterruptedException();
    }
  }
}
