package dev.quipu.hits;

import dev.quipu.QuipuException;
import dev.quipu.time.Periodic;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rolls up and sweeps the hits of a store periodically. Any number of processes may do so on one
 * store.
 */
public final class RollUps implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(RollUps.class);

  private final HitLog hits;
  private final Periodic running;

  /**
   * Starts the roll-ups; the first round runs after one interval.
   *
   * @param interval time between two rounds
   */
  public RollUps(HitLog hits, Duration interval) {
    this.hits = hits;
    this.running = new Periodic("quipu-roll-ups", interval, this::round);
  }

  private void round() {
    try {
      hits.rollUpDue();
    } catch (QuipuException e) {
      LOGGER.warn("Roll-up failed; will retry: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Roll-up failed; will retry", e);
    }
  }

  @Override
  public void close() {
    running.close();
  }
}
