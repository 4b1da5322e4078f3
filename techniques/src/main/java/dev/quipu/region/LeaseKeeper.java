package dev.quipu.region;

import dev.quipu.QuipuException;
import dev.quipu.time.Periodic;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renews the lease of the local region, and logs when it cannot. */
public final class LeaseKeeper implements AutoCloseable {
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
  private static final Logger LOGGER = LoggerFactory.getLogger(LeaseKeeper.class);

  private final RegionLeases leases;
  private final Periodic running;
  private String said = "";

  /** Starts, after a first attempt. */
  public LeaseKeeper(RegionLeases leases) {
    this.leases = leases;
    round();
    this.running = new Periodic("quipu-lease", LOOK_EVERY, this::round);
  }

  private void round() {
    try {
      logOnce(leases.renewIfDue() ? "" : "Lease not confirmed by all regions; will retry");
    } catch (QuipuException e) {
      logOnce("Lease renewal failed; will retry: " + e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Lease renewal failed; will retry", e);
    }
  }

  /** Logs a change of the state once, not every second. */
  private void logOnce(String now) {
    if (!now.equals(said) && !now.isEmpty()) {
      LOGGER.warn(now);
    }
    said = now;
  }

  @Override
  public void close() {
    running.close();
  }
}
