package dev.quipu.region;

import dev.quipu.QuipuException;
import dev.quipu.time.Periodic;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the own region's lease, and says so when it cannot. */
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
      say(leases.renewIfDue() ? "" : "Not all regions confirm this one's lease; asked again");
    } catch (QuipuException e) {
      say("The lease of this region is not renewed: " + e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("The lease of this region could not be renewed; tried again", e);
    }
  }

  /** Once, not each second. */
  private void say(String now) {
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
