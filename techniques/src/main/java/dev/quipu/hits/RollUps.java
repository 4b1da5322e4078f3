package dev.quipu.hits;

import dev.quipu.QuipuException;
import dev.quipu.time.Periodic;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rolls up and sweeps the hits of a store, now and then. Any number of processes may do it on one
 * store.
 */
public final class RollUps implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(RollUps.class);

  private final HitLog hits;
  private final Periodic running;

  /**
   * Starts.
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
      LOGGER.warn("Hits were not rolled up; tried again later: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Hits could not be rolled up; tried again later", e);
    }
  }

  @Override
  public void close() {
    running.close();
  }
}
