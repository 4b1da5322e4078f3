package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.lock.Locks;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.testkit.ConcurrentClients;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of locks on every store: one holder at a time, and a fence against a paused holder.
 */
public abstract class LocksContract extends EmptyStoreFixture {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Key PROTECTED = new Key("protected", "item");

  private Locks locks;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openLocks before each test
  protected LocksContract() {}

  @BeforeEach
  final void openLocks() {
    locks = new Locks(store);
  }

  private Locks.Lease take() {
    return locks.acquire("door", LEASE).orElseThrow();
  }

  private boolean write(Locks.Lease lease, long added) {
    return locks.write(lease, PROTECTED, List.of(new Change.Add(Item.VALUE, added)));
  }

  @Test
  final void aLockHasOneHolderUntilItIsReleased() {
    Locks.Lease held = take();
    assertEquals(Optional.empty(), locks.acquire("door", LEASE));
    assertTrue(locks.acquire("window", LEASE).isPresent());
    assertTrue(locks.release(held));
    assertFalse(locks.release(held));
    assertTrue(take().fence() > held.fence());
  }

  @Test
  final void aLeaseRunsOutToTheMillisecondUnlessItIsRenewed() {
    Locks.Lease held = take();
    clock.advance(LEASE.minusMillis(1));
    assertEquals(Optional.empty(), locks.acquire("door", LEASE));
    Locks.Lease renewed = locks.renew(held, LEASE).orElseThrow();
    clock.advance(LEASE.minusMillis(1));
    assertEquals(Optional.empty(), locks.acquire("door", LEASE));
    clock.advance(Duration.ofMillis(1));
    Locks.Lease next = take();
    assertTrue(next.fence() > renewed.fence());
    assertEquals(Optional.empty(), locks.renew(renewed, LEASE));
    assertFalse(locks.release(renewed), "another's lock was released");
    assertEquals(Optional.empty(), locks.acquire("door", LEASE));
    assertTrue(locks.release(next));
  }

  @Test
  final void theFenceStopsAPausedHolder() {
    Locks.Lease paused = take();
    assertTrue(write(paused, 1));
    clock.advance(LEASE);
    Locks.Lease next = take();
    assertTrue(write(next, 10));
    assertFalse(write(paused, 100), "a paused holder wrote after the next one");
    assertTrue(write(next, 10));
    assertEquals(21, store.get(PROTECTED, Consistency.STRONG).orElseThrow().number(Item.VALUE));
  }

  @Test
  final void ofManyClientsOneGetsTheLock() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger together = new AtomicInteger();
    List<Integer> taken =
        ConcurrentClients.run(
            8,
            client -> {
              int times = 0;
              for (int i = 0; i < 20; i++) {
                Optional<Locks.Lease> lease = locks.acquire("door", LEASE);
                if (lease.isPresent()) {
                  together.accumulateAndGet(inside.incrementAndGet(), Math::max);
                  assertTrue(write(lease.get(), 1));
                  inside.decrementAndGet();
                  assertTrue(locks.release(lease.get()));
                  times++;
                }
              }
              return times;
            });
    int sum = taken.stream().mapToInt(Integer::intValue).sum();
    assertTrue(sum > 0);
    assertEquals(1, together.get(), "two held it at once");
    assertEquals(sum, store.get(PROTECTED, Consistency.STRONG).orElseThrow().number(Item.VALUE));
  }

  @Test
  final void aLockThatTheStoreDroppedContinuesWithAHigherFence() {
    Locks.Lease held = take();
    assertTrue(write(held, 1));
    clock.advance(Duration.ofMillis(1));
    store.write(new Write.Delete(new Key("lock/door", "lock"), Condition.always()));
    Locks.Lease next = take();
    assertTrue(next.fence() > held.fence());
    assertTrue(write(next, 1));
    assertFalse(write(held, 1));
    assertFalse(locks.release(held));
  }

  @Test
  final void valuesOutsideTheLimitsAreRejected() {
    assertThrows(IllegalArgumentException.class, () -> locks.acquire("", LEASE));
    assertThrows(IllegalArgumentException.class, () -> locks.acquire("a", Duration.ZERO));
    assertThrows(
        IllegalArgumentException.class, () -> locks.acquire("a", Locks.LEASE_MAX.plusMillis(1)));
  }
}
