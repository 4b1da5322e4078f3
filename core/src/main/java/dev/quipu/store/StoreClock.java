package dev.quipu.store;

import dev.quipu.QuipuException;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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

  /** Most that the clocks of a store and of those that use it may differ. */
  public static final Duration DIFFERENCE_MAX = Duration.ofMinutes(1);

  private static final long JUMP_MILLIS = 1_000;
  private static final long NANOS = 1_000_000; // of a millisecond

  private final Supplier<Optional<Instant>> store;
  private final Clock local;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile @Nullable Reading last;
  private volatile boolean hasNone;
  private volatile long triedNanos;
  private volatile boolean differs;

  /** That the store showed {@code storeMillis} when this machine had the other two. */
  private record Reading(long storeMillis, long nanos, long wallMillis) {
    long millisAt(long now) {
      return storeMillis + (now - nanos) / NANOS;
    }
  }

  private StoreClock(Supplier<Optional<Instant>> store, Clock local) {
    this.store = store;
    this.local = local;
  }

  /**
   * Returns the clock of a store, or {@code local} if the store does not show its time. Where the
   * store is away, it is read by the first call that needs it, which fails if it is still away.
   *
   * @throws QuipuException if the store answers that it cannot be asked
   */
  public static Clock of(StoreDriver driver, Clock local) {
    return of(driver::time, local);
  }

  /** The same, for a driver that needs the time itself. */
  public static Clock of(Supplier<Optional<Instant>> store, Clock local) {
    StoreClock clock = new StoreClock(store, local);
    try {
      clock.read(Long.MAX_VALUE);
    } catch (QuipuException e) {
      if (!e.reason().isTemporary()) {
        throw e;
      }
    }
    return clock.hasNone ? local : clock;
  }

  /** Reads, unless the round trip takes too long. */
  private void read(long roundTripNanosMax) {
    long before = local.nanoTime();
    triedNanos = before;
    Optional<Instant> time = store.get();
    long roundTrip = local.nanoTime() - before;
    if (time.isEmpty()) {
      hasNone = true;
    } else if (roundTrip <= roundTripNanosMax) {
      Reading next =
          new Reading(time.get().toEpochMilli(), before + roundTrip / 2, local.epochMillis());
      last = next;
      compare(next);
    }
  }

  /**
   * Returns the time of the store.
   *
   * @throws QuipuException if it was never read, and cannot be read now
   */
  @Override
  public long epochMillis() {
    Reading known = last;
    if (known == null && !hasNone) {
      read(Long.MAX_VALUE); // what needs the time needs the store
    } else if (known != null && isDue(known) && reading.tryLock()) {
      try {
        read(ROUND_TRIP_MAX.toNanos());
      } catch (QuipuException e) {
        LOGGER.debug("Time of the store not read; will retry", e);
      } finally {
        reading.unlock();
      }
    }
    Reading now = last;
    return now == null ? local.epochMillis() : now.millisAt(local.nanoTime());
  }

  private boolean isDue(Reading known) {
    long now = local.nanoTime();
    if (now - triedNanos >= INTERVAL.toNanos()) {
      return true;
    }
    long elapsedMillis = (now - known.nanos) / NANOS;
    // Also after this machine was suspended, which nanoTime may not show.
    return Math.abs(local.epochMillis() - known.wallMillis - elapsedMillis) > JUMP_MILLIS
        && now - triedNanos >= RETRY_NANOS;
  }

  private void compare(Reading at) {
    long differenceMillis = at.wallMillis - at.storeMillis;
    boolean isFar = Math.abs(differenceMillis) > DIFFERENCE_MAX.toMillis();
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
