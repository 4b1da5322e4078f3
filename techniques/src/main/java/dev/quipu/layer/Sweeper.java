package dev.quipu.layer;

import dev.quipu.QuipuException;
import dev.quipu.store.StoreClock;
import dev.quipu.time.Periodic;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes expired items from a store that does not do so itself, and meanwhile compares the local
 * clock with those of other servers ({@link ClockComparison}). Any number of processes may sweep
 * one store.
 */
public final class Sweeper implements AutoCloseable {
  /** How long an item is kept after its expiry, to allow for clock differences. */
  public static final Duration KEPT = StoreClock.DIFFERENCE_MAX;

  /** Time between two rounds. */
  public static final Duration INTERVAL = Duration.ofMinutes(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(Sweeper.class);
  private static final int AT_ONCE_MAX = 1_000;

  private final Store store;
  private final ClockComparison clocks;
  private final Periodic running;

  /** Starts sweeping immediately. */
  public Sweeper(Store store) {
    this.store = store;
    this.clocks = ClockComparison.start(store);
    this.running = new Periodic("quipu-sweeper", INTERVAL, this::round);
  }

  private void round() {
    try {
      sweep(store);
    } catch (QuipuException e) {
      LOGGER.warn("Expiry sweep failed; will retry: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Expiry sweep failed; will retry", e);
    }
  }

  /**
   * Removes all items that expired {@link #KEPT} ago or earlier.
   *
   * @return the number of removed items; 0 on a store that removes them itself
   */
  public static long sweep(Store store) {
    long removed = 0;
    while (true) {
      int some = store.removeExpired(KEPT, AT_ONCE_MAX);
      removed += some;
      if (some < AT_ONCE_MAX) {
        return removed;
      }
    }
  }

  @Override
  public void close() {
    running.close();
    clocks.close();
  }
}
