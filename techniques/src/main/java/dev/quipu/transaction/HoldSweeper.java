package dev.quipu.transaction;

import dev.quipu.Holds;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.time.Periodic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases expired holds. Any number of processes may sweep one store, and be paused or killed at
 * any point: each hold is released once.
 */
public final class HoldSweeper implements AutoCloseable {
  /** Time between two rounds, once this process has placed or seen a hold. */
  public static final Duration INTERVAL = Duration.ofSeconds(2);

  /** Time between two rounds before that: each round costs requests, also without any hold. */
  public static final Duration INTERVAL_UNUSED = INTERVAL.multipliedBy(8);

  /** Parts that are released in parallel: one hold takes two round trips. */
  private static final int PARTS = 8;

  private static final Logger LOGGER = LoggerFactory.getLogger(HoldSweeper.class);

  private final StoredHolds holds;
  private final Periodic running;
  private long skipped; // rounds
  private boolean hasFailed;

  /** Starts sweeping. */
  public HoldSweeper(StoredHolds holds) {
    this.holds = holds;
    this.running = new Periodic("quipu-hold-sweeper", INTERVAL, this::round);
  }

  /**
   * Begins to release the expired holds of a store, also those of processes that have ended; until
   * {@code quipu} is closed. Does nothing if the store does not support holds.
   */
  public static void begin(Quipu quipu) {
    try {
      var unused = quipu.part(Holds.class); // which is swept from then on
    } catch (UnsupportedOperationException e) {
      LOGGER.debug("No holds on this store: {}", e.getMessage());
    }
  }

  private void round() {
    boolean isDue = holds.areUsed() || ++skipped * INTERVAL.toNanos() >= INTERVAL_UNUSED.toNanos();
    if (!isDue) {
      return;
    }
    skipped = 0;
    try {
      long released = releaseExpired();
      hasFailed = false;
      if (released > 0) {
        LOGGER.debug("Expired holds released: holds={}", released);
      }
    } catch (QuipuException e) {
      if (!hasFailed) { // once, as long as the store is unreachable
        LOGGER.warn("Release of expired holds failed; will retry: {}", e.getMessage());
      }
      hasFailed = true;
    } catch (RuntimeException e) {
      LOGGER.error("Release of expired holds failed; will retry", e);
    }
  }

  private long releaseExpired() {
    List<Future<Long>> parts = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < PARTS; i++) {
        int part = i;
        parts.add(executor.submit(() -> holds.releaseExpired(part, PARTS)));
      }
    }
    long released = 0;
    for (Future<Long> each : parts) {
      try {
        released += each.get();
      } catch (ExecutionException e) {
        switch (e.getCause()) {
          case RuntimeException failure -> throw failure;
          case Error failure -> throw failure;
          case null, default -> throw new IllegalStateException(e);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return released;
  }

  @Override
  public void close() {
    running.close();
  }
}
