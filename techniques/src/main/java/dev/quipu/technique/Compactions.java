package dev.quipu.technique;

import dev.quipu.QuipuException;
import dev.quipu.time.Periodic;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts the counters of an {@link ItemCollection} periodically. Any number of processes may do
 * so on one store. A round scans the changes of all counters once.
 */
public final class Compactions implements AutoCloseable {
  private static final Duration INTERVAL_MIN = Duration.ofMinutes(1);
  private static final int ROUNDS_PER_WINDOW = 24;
  private static final Logger LOGGER = LoggerFactory.getLogger(Compactions.class);

  private final ItemCollection counters;
  private final Periodic running;
  private volatile boolean isClosing;

  /** Starts compacting, 24 times in the window of the technique, and at most once a minute. */
  public Compactions(ItemCollection counters) {
    this(counters, interval(counters.window().orElse(INTERVAL_MIN)));
  }

  /**
   * Starts compacting; the first round runs after one interval.
   *
   * @param interval time between two rounds
   */
  public Compactions(ItemCollection counters, Duration interval) {
    this.counters = counters;
    this.running = new Periodic("quipu-compactions", interval, this::round);
  }

  /** Returns the time between two rounds with this window. */
  public static Duration interval(Duration window) {
    Duration part = window.dividedBy(ROUNDS_PER_WINDOW);
    return part.compareTo(INTERVAL_MIN) < 0 ? INTERVAL_MIN : part;
  }

  private void round() {
    try {
      long folded =
          counters.compactAll(
              () -> !isClosing,
              (counter, failure) ->
                  LOGGER
                      .atWarn()
                      .addKeyValue("counter", counter)
                      .addKeyValue("cause", failure.getMessage())
                      .log("Compaction failed; will retry"));
      LOGGER.atDebug().addKeyValue("changes", folded).log("Compacted");
    } catch (QuipuException e) {
      LOGGER.warn("Compaction failed; will retry: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Compaction failed; will retry", e);
    }
  }

  @Override
  public void close() {
    isClosing = true;
    running.close();
  }
}
