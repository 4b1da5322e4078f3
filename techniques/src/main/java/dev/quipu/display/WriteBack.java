package dev.quipu.display;

import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.time.Periodic;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flushes a {@link CacheFirst} to its durable counters, periodically and once more on close. Any
 * number of processes may do so for the same counters.
 */
public final class WriteBack implements AutoCloseable {
  /** Shortest time between two rounds. */
  public static final Duration INTERVAL_MIN = Duration.ofMillis(100);

  /** Longest time between two rounds. */
  public static final Duration INTERVAL_MAX = Duration.ofHours(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(WriteBack.class);

  private static final int AT_ONCE_MAX = 16;

  private final CacheFirst counters;
  private final ExecutorService several =
      Executors.newFixedThreadPool(AT_ONCE_MAX, Thread.ofVirtual().factory());
  private final Periodic running;

  /**
   * Starts the write-back; the first round runs after one interval.
   *
   * @param interval between two rounds, {@link #INTERVAL_MIN} to {@link #INTERVAL_MAX}
   */
  public WriteBack(CacheFirst counters, Duration interval) {
    if (interval.compareTo(INTERVAL_MIN) < 0 || interval.compareTo(INTERVAL_MAX) > 0) {
      throw new IllegalArgumentException(
          "interval is %s; it must be from %s to %s"
              .formatted(
                  Limits.text(interval), Limits.text(INTERVAL_MIN), Limits.text(INTERVAL_MAX)));
    }
    this.counters = counters;
    this.running = new Periodic("quipu-write-back", interval, this::round);
  }

  private void round() {
    try {
      counters.writeBack(several);
    } catch (QuipuException e) {
      LOGGER.warn("Write-back incomplete; will retry: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Write-back failed; will retry", e);
    }
  }

  /** Stops after a last round. */
  @Override
  public void close() {
    running.close();
    round();
    several.close();
  }
}
