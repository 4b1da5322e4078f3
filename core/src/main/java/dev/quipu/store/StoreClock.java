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
 * The clock of a store, so that all servers agree on when an item expires, independent of their own
 * clocks. It is read at the start, every minute of use, and after the local wall clock jumped; in
 * between it advances with {@link Clock#nanoTime}. While the store is unreachable, it advances from
 * the last reading. Thread-safe.
 */
public final class StoreClock implements Clock {
  /** Longest time between two readings while in use. */
  public static final Duration INTERVAL = Duration.ofMinutes(1);

  /**
   * Longest round trip of a reading that replaces an earlier one; the error is at most half of it.
   */
  public static final Duration ROUND_TRIP_MAX = Duration.ofSeconds(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(StoreClock.class);
  private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

  /** Greatest tolerated difference between the clocks of a store and of its clients. */
  public static final Duration DIFFERENCE_MAX = Duration.ofMinutes(1);

  private static final long JUMP_MILLIS = 1_000;
  private static final long NANOS = 1_000_000; // per millisecond

  private final Supplier<Optional<Instant>> store;
  private final Clock local;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile @Nullable Reading last;
  private volatile boolean hasNone;
  private volatile long triedNanos;
  private volatile boolean differs;

  /** The time of the store, and the two local clocks at the same moment. */
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
   * Returns the clock of a store, or {@code local} if the store does not expose its time. If the
   * store is unreachable, the first call that needs the time reads it, and fails if it is still
   * unreachable.
   *
   * @throws QuipuException if the store rejects the request for its time
   */
  public static Clock of(StoreDriver driver, Clock local) {
    return of(driver::time, local);
  }

  /**
   * Returns the same as {@link #of(StoreDriver, Clock)}, for a driver that needs the time itself.
   */
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

  /** Reads the time, and discards the reading if the round trip took too long. */
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
      read(Long.MAX_VALUE); // the caller needs the store anyway
    } else if (known != null && isDue(known) && reading.tryLock()) {
      try {
        read(ROUND_TRIP_MAX.toNanos());
      } catch (QuipuException e) {
        LOGGER.debug("Store clock read failed; will retry", e);
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
          "Local clock differs from the store's; using the store's: differenceMillis={}",
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
