package dev.quipu.store;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time of a store, so that all servers agree when an item expires, whatever their own clocks
 * show. It is read at the start, every minute of use, and after the clock of this machine jumped;
 * in between it advances with {@link Clock#nanoTime}. While the store cannot be asked, it goes on
 * from the last reading. Thread-safe.
 */
public final class StoreClock implements Clock {
  /** Longest time between two readings while it is used. */
  public static final Duration INTERVAL = Duration.ofMinutes(1);

  /** Longest round trip of a reading that replaces another; the error is at most half of it. */
  public static final Duration ROUND_TRIP_MAX = Duration.ofSeconds(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(StoreClock.class);
  private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long JUMP_MILLIS = 1_000;
  private static final long NANOS = 1_000_000; // of a millisecond

  private final Supplier<Optional<Instant>> store;
  private final Clock local;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile Reading last;
  private volatile long triedNanos;
  private volatile boolean differs;
  private volatile boolean isGuess; // the store could not be asked so far

  /** That the store showed {@code storeMillis} when this machine had the other two. */
  private record Reading(long storeMillis, long nanos, long wallMillis) {
    long millisAt(long now) {
      return storeMillis + (now - nanos) / NANOS;
    }
  }

  private StoreClock(Supplier<Optional<Instant>> store, Clock local, Reading first) {
    this.store = store;
    this.local = local;
    this.last = first;
    this.triedNanos = first.nanos;
    compare(first);
  }

  /**
   * Returns the clock of a store, or {@code local} if the store does not show its time. While the
   * store does not answer, it goes on from {@code local}.
   *
   * @throws StoreException if the store answers that it cannot be asked
   */
  public static Clock of(StoreDriver driver, Clock local) {
    return of(driver::time, local);
  }

  /** The same, for a driver that needs the time itself. */
  public static Clock of(Supplier<Optional<Instant>> store, Clock local) {
    try {
      return read(store, local, Long.MAX_VALUE)
          .<Clock>map(first -> new StoreClock(store, local, first))
          .orElse(local);
    } catch (StoreException e) {
      if (!e.reason().isTemporary()) {
        throw e;
      }
      long now = local.epochMillis();
      StoreClock clock = new StoreClock(store, local, new Reading(now, local.nanoTime(), now));
      clock.isGuess = true;
      return clock;
    }
  }

  /** Empty if the store shows no time, or the round trip took too long. */
  private static Optional<Reading> read(
      Supplier<Optional<Instant>> store, Clock local, long roundTripNanosMax) {
    long before = local.nanoTime();
    Optional<Instant> time = store.get();
    long roundTrip = local.nanoTime() - before;
    return time.filter(some -> roundTrip <= roundTripNanosMax)
        .map(at -> new Reading(at.toEpochMilli(), before + roundTrip / 2, local.epochMillis()));
  }

  @Override
  public long epochMillis() {
    if (isDue() && reading.tryLock()) {
      try {
        triedNanos = local.nanoTime();
        read(store, local, ROUND_TRIP_MAX.toNanos()).ifPresent(this::replace);
      } catch (StoreException e) {
        LOGGER.debug("Time of the store not read; will retry", e);
      } finally {
        reading.unlock();
      }
    }
    return last.millisAt(local.nanoTime());
  }

  private boolean isDue() {
    long now = local.nanoTime();
    if (now - triedNanos >= (isGuess ? RETRY_NANOS : INTERVAL.toNanos())) {
      return true;
    }
    Reading before = last;
    long elapsedMillis = (now - before.nanos) / NANOS;
    // Also after this machine was suspended, which nanoTime may not show.
    return Math.abs(local.epochMillis() - before.wallMillis - elapsedMillis) > JUMP_MILLIS
        && now - triedNanos >= RETRY_NANOS;
  }

  private void replace(Reading next) {
    last = next;
    isGuess = false;
    compare(next);
  }

  private void compare(Reading at) {
    long differenceMillis = at.wallMillis - at.storeMillis;
    boolean isFar = Math.abs(differenceMillis) > Sweeper.KEPT.toMillis();
    if (isFar && !differs) {
      LOGGER.warn(
          "Clock of this machine differs from the store's, which is used: differenceMillis={}",
          differenceMillis);
    }
    differs = isFar;
  }

  @Override
  public long nanoTime() {
    return local.nanoTime();
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    local.sleep(duration);
  }
}
