package dev.quipu.region;

import dev.quipu.QuipuException;
import dev.quipu.technique.Compactions;
import dev.quipu.technique.CounterItems;
import dev.quipu.time.Periodic;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges the counters of a {@link RegionalCollection} periodically. Processes of all regions may do
 * so; of each counter, one region merges at a time. A round scans the local changes of all counters
 * once, and then makes the steps of those that are due, a second apart, since the database
 * replicates each step.
 */
public final class Merges implements AutoCloseable {
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** Steps of a counter without a merged change, after which it waits for the next round. */
  private static final int IDLE_STEPS_MAX = 30;

  private static final Logger LOGGER = LoggerFactory.getLogger(Merges.class);

  private final RegionalCollection counters;
  private final Duration window;
  private final Periodic running;
  private volatile boolean isClosing;
  private String said = "";

  /**
   * Starts merging, 24 times in the window of the technique, at least as often as {@link
   * Compactions}, or every second for a window below a minute.
   *
   * @throws IllegalArgumentException if the technique has no window
   */
  public Merges(RegionalCollection counters) {
    this(
        counters,
        counters
            .window()
            .map(window -> window.toMinutes() < 1 ? PAUSE : Compactions.interval(window))
            .orElseThrow(() -> new IllegalArgumentException("the technique has no window")));
  }

  /**
   * Starts merging; the first round runs after one interval.
   *
   * @param interval time between two rounds
   */
  public Merges(RegionalCollection counters, Duration interval) {
    this.counters = counters;
    this.window = counters.window().orElse(interval);
    this.running = new Periodic("quipu-merges", interval, this::round);
  }

  private void round() {
    try {
      merge();
      said = "";
    } catch (QuipuException e) {
      if (!String.valueOf(e.getMessage()).equals(said)) { // once, not in each round
        LOGGER.warn("Merge failed; will retry: {}", e.getMessage());
      }
      said = String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOGGER.error("Merge failed; will retry", e);
    }
  }

  private void merge() throws InterruptedException {
    Map<String, Integer> idle = new TreeMap<>(); // steps since the last that merged, by counter
    for (String counter : CounterItems.names(counters.regions().here())) {
      if (!isClosing && counters.isDue(counter, window)) {
        idle.put(counter, 0);
      }
    }
    while (!idle.isEmpty() && !isClosing) {
      for (Map.Entry<String, Integer> each : new HashMap<>(idle).entrySet()) {
        String counter = each.getKey();
        int merged = isClosing ? 0 : counters.merge(counter, window);
        int steps = merged > 0 ? 0 : each.getValue() + 1;
        if (steps > IDLE_STEPS_MAX || !counters.isDue(counter, window)) {
          idle.remove(counter);
        } else {
          idle.put(counter, steps);
        }
      }
      if (!idle.isEmpty() && !isClosing) {
        counters.regions().here().clock().sleep(PAUSE);
      }
    }
  }

  @Override
  public void close() {
    isClosing = true;
    running.close();
  }
}
