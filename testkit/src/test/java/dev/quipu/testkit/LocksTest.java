package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.lock.Locks;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Limits of locks, and lost replies. */
final class LocksTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Key ITEM = new Key("p", "s");

  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryDriver memory = new MemoryDriver();
  private final Locks locks = new Locks(new Store(memory, clock), Randomness.seeded(1));

  /** Faults of writes, and of the reads after them. */
  private enum Fault {
    REPLY_LOST,
    REQUEST_LOST,
    REPLY_AND_READ_LOST,
    REJECTED
  }

  private Locks faulty(Fault fault) {
    boolean[] lost = {false};
    InterceptingDriver driver =
        new InterceptingDriver(
            memory,
            new InterceptingDriver.Interceptor() {
              @Override
              public <T> T call(Supplier<T> call) {
                if (lost[0] && fault == Fault.REPLY_AND_READ_LOST) {
                  throw new OutcomeUnknownException(Reason.TIMEOUT, "the read was lost", null);
                }
                return call.get();
              }

              @Override
              public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
                if (fault == Fault.REJECTED) {
                  throw new NotAppliedException(Reason.DENIED, "rejected");
                }
                if (fault != Fault.REQUEST_LOST) {
                  WriteResult unused = call.get();
                }
                lost[0] = true;
                throw new OutcomeUnknownException(Reason.TIMEOUT, "the write was lost", null);
              }
            });
    return new Locks(new Store(driver, clock), Randomness.seeded(2));
  }

  @Test
  void aLockWhoseReplyIsLostIsHeldIfItIsStored() {
    Locks.Lease held = faulty(Fault.REPLY_LOST).acquire("a", MINUTE).orElseThrow();
    assertTrue(locks.acquire("a", MINUTE).isEmpty());
    assertEquals(held.fence(), locks.renew(held, MINUTE).orElseThrow().fence());
    assertTrue(faulty(Fault.REQUEST_LOST).acquire("b", MINUTE).isEmpty());
    assertTrue(locks.acquire("b", MINUTE).isPresent());
  }

  @Test
  void aLockOfWhichNothingIsKnownIsUnknown() {
    Locks faulty = faulty(Fault.REPLY_AND_READ_LOST);
    QuipuException why = assertThrows(QuipuException.class, () -> faulty.acquire("a", MINUTE));
    assertEquals(Outcome.UNKNOWN, why.outcome());
    assertEquals("the write was lost", why.getMessage());
    assertEquals(1, why.getSuppressed().length);
  }

  @Test
  void aLockThatTheStoreRejectsIsNotTaken() {
    Locks faulty = faulty(Fault.REJECTED);
    QuipuException why = assertThrows(QuipuException.class, () -> faulty.acquire("a", MINUTE));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertTrue(locks.acquire("a", MINUTE).isPresent());
  }

  @Test
  void aLeaseHasLimits() {
    for (Duration lease :
        List.of(Duration.ZERO, Duration.ofMillis(-1), Locks.LEASE_MAX.plusNanos(1))) {
      assertThrows(IllegalArgumentException.class, () -> locks.acquire("a", lease));
    }
    Locks.Lease held = locks.acquire("a", Locks.LEASE_MAX).orElseThrow();
    assertEquals(Locks.LEASE_MAX, Duration.between(new Store(memory, clock).now(), held.until()));
    clock.advance(Locks.LEASE_MAX.minusMillis(1));
    assertTrue(locks.acquire("a", MINUTE).isEmpty());
    clock.advance(Duration.ofMillis(1));
    Locks.Lease next = locks.acquire("a", MINUTE).orElseThrow();
    assertTrue(next.fence() > held.fence());
    assertFalse(locks.release(held));
    assertEquals(Optional.empty(), locks.renew(held, MINUTE));
  }

  @Test
  void aHolderWritesAsOftenAsItLikesAndAnEarlierOneNoMore() {
    Locks.Lease held = locks.acquire("a", MINUTE).orElseThrow();
    assertTrue(locks.write(held, ITEM, change(1)));
    assertTrue(locks.write(held, ITEM, change(2)));
    clock.advance(MINUTE);
    Locks.Lease next = locks.acquire("a", MINUTE).orElseThrow();
    assertTrue(locks.write(held, ITEM, change(3)), "nobody has written since");
    assertTrue(locks.write(next, ITEM, change(4)));
    assertFalse(locks.write(held, ITEM, change(5)));
    Item item = memory.get(ITEM, Consistency.STRONG).orElseThrow();
    assertEquals(4, item.number("n"));
    assertEquals(next.fence(), item.number("fence"));
  }

  private static List<Change> change(long number) {
    return List.of(new Change.Put("n", new Field.Number(number)));
  }

  @Test
  void aWriterThatAnotherComesBetweenEachTimeGivesUp() {
    InterceptingDriver busy =
        new InterceptingDriver(
            memory,
            new InterceptingDriver.Interceptor() {
              @Override
              public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
                memory.write(new Write.Put(ITEM, Map.of(), Optional.empty(), Condition.always()));
                return call.get();
              }
            });
    Locks.Lease held = locks.acquire("a", MINUTE).orElseThrow();
    Locks crowded = new Locks(new Store(busy, clock), Randomness.seeded(2));
    long start = clock.nanoTime();
    QuipuException why =
        assertThrows(QuipuException.class, () -> crowded.write(held, ITEM, change(1)));
    assertEquals(Reason.THROTTLED, why.reason());
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertTrue(clock.nanoTime() > start, "it did not pause");
  }
}
