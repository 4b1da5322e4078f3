package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.layer.Store;
import dev.quipu.lock.Locks;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write.Change;
import dev.quipu.testkit.pace.Soak;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Locks on a store that loses requests and replies, with holders that are paused: many seeds. */
final class LocksFaultTest {
  private static final int SEEDS = Soak.seeds(300);
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Key PROTECTED = new Key("protected", "item");

  @Test
  void aLockHasOneHolderAndPausedWritersAreStopped() throws Exception {
    int taken = 0;
    int stopped = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed);
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
      taken += run.taken;
      stopped += run.stopped;
    }
    assertTrue(taken > SEEDS * 5, "taken only " + taken + " times");
    assertTrue(stopped > SEEDS / 10, "a paused writer was stopped only " + stopped + " times");
  }

  /** One seed: three clients, each of which is sometimes paused for longer than a lease. */
  private static final class Run extends FaultyRun<MemoryDriver> {
    int taken;
    int stopped;
    private final Store store;
    private final Locks locks;
    private long heldUntilMillis;
    private long highestFence;
    private long written;
    private long unknown;

    Run(long seed) {
      super(seed, (time, random) -> new MemoryDriver(), 0.1, Duration.ofMillis(1), 9);
      store = store(driver);
      locks = new Locks(store, random);
    }

    void go() throws InterruptedException {
      run(List.of(this::client, this::client, this::client));
      long value =
          store.get(PROTECTED, Consistency.STRONG).map(item -> item.number(Item.VALUE)).orElse(0L);
      if (value < written || value > written + unknown) {
        wrong.add("the protected item has " + value + ", written " + written);
      }
    }

    private void client() {
      for (int i = 0; i < 8; i++) {
        try {
          Optional<Locks.Lease> lease = locks.acquire("door", LEASE);
          if (lease.isPresent()) {
            hold(lease.get());
          }
        } catch (QuipuException e) {
          // unknown: whoever holds it, this client does not
        }
        time.sleep(Duration.ofSeconds(random.nextInt(8)));
      }
    }

    private void hold(Locks.Lease lease) {
      taken++;
      if (time.epochMillis() < heldUntilMillis) {
        wrong.add("two held it at once: " + lease);
      }
      if (lease.fence() <= highestFence) {
        wrong.add("a fence did not grow: " + lease);
      }
      highestFence = lease.fence();
      heldUntilMillis = lease.until().toEpochMilli();
      boolean paused = random.nextInt(3) == 0;
      write(lease);
      if (paused) {
        time.sleep(LEASE.plusSeconds(random.nextInt(20)));
        write(lease);
      } else if (locks.release(lease)) {
        heldUntilMillis = 0;
      }
    }

    private void write(Locks.Lease lease) {
      try {
        boolean done = locks.write(lease, PROTECTED, List.of(new Change.Add(Item.VALUE, 1)));
        written += done ? 1 : 0;
        stopped += done ? 0 : 1;
      } catch (QuipuException e) {
        unknown += e.outcome() == Outcome.UNKNOWN ? 1 : 0;
      }
    }
  }
}
