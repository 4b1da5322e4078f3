package dev.quipu.testkit.scenario;

import dev.quipu.layer.Store;
import dev.quipu.lock.Locks;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write.Change;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * One seed of a lock, and an item that it protects. Clocks differ by less than the remaining time
 * of a lease; processes are paused for longer than a lease.
 */
final class LockRun {
  private static final String NAME = "lock";
  private static final Key ITEM = new Key("protected", "item");
  private static final int OPERATIONS = 200;
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final Duration SKEW = Duration.ofSeconds(10);

  private final World world;
  private int operations;
  private long heldUntilNanos = Long.MIN_VALUE; // as the last holder may assume
  private long lastFence = Long.MIN_VALUE;
  private long writtenFence = Long.MIN_VALUE;

  private LockRun(long seed) {
    this.world = new World(seed, LinkFaults.ALL, SKEW, World.Limit.NONE);
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(long seed) {
    LockRun run = new LockRun(seed);
    return run.world.checked(run::run);
  }

  private void run() {
    for (int i = 0; i < 3; i++) {
      Store[] own = new Store[1];
      world.process(2, store -> own[0] = store, () -> client(own[0]));
    }
    world.run();
    world.calmly(store -> {
      sleep(store.clock(), LEASE.plus(SKEW.multipliedBy(2)));
      Optional<Locks.Lease> lease = new Locks(store, world.random).acquire(NAME, LEASE);
      world.check(lease.isPresent(), "the lock is not free at last");
      long fence = store.get(ITEM, Consistency.STRONG).map(item -> item.number("fence")).orElse(0L);
      world.check(fence >= Math.max(0, writtenFence), "fence %d is gone", writtenFence);
    });
  }

  private void client(Store store) {
    Locks locks = new Locks(store, world.random);
    while (operations++ < OPERATIONS && world.violations.isEmpty()) {
      World.quietly(() -> hold(store, locks));
      sleep(store.clock(), world.scheduler.upTo(Duration.ofSeconds(20)));
    }
  }

  private void hold(Store store, Locks locks) {
    Optional<Locks.Lease> taken = locks.acquire(NAME, LEASE);
    if (taken.isEmpty()) {
      return;
    }
    Locks.Lease lease = taken.get();
    long now = world.scheduler.nowNanos();
    long leftMillis = lease.until().toEpochMilli() - store.clock().epochMillis();
    long safeNanos = (leftMillis - 2 * SKEW.toMillis()) * 1_000_000; // by any clock
    if (safeNanos > 0) {
      world.check(now >= heldUntilNanos, "two hold the lock");
      world.check(lease.fence() > lastFence, "fence %d after %d", lease.fence(), lastFence);
      heldUntilNanos = now + safeNanos;
      lastFence = lease.fence();
    }
    if (world.random.nextBoolean()) {
      sleep(store.clock(), world.scheduler.upTo(LEASE.multipliedBy(2)));
    }
    if (world.random.nextInt(4) != 0) {
      write(locks, lease);
    }
    if (world.random.nextInt(4) != 0) {
      heldUntilNanos = lastFence == lease.fence() ? Long.MIN_VALUE : heldUntilNanos;
      locks.release(lease);
    }
  }

  private void write(Locks locks, Locks.Lease lease) {
    long before = writtenFence;
    Change change = new Change.Put("value", new Field.Number(lease.fence()));
    if (locks.write(lease, ITEM, List.of(change))) {
      world.check(before <= lease.fence(), "fence %d wrote after %d", lease.fence(), before);
      writtenFence = Math.max(writtenFence, lease.fence());
    }
  }

  static void sleep(Clock clock, Duration duration) {
    try {
      clock.sleep(duration);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e); // simulated threads are never interrupted
    }
  }
}
