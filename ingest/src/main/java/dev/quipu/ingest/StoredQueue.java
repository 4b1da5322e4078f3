package dev.quipu.ingest;

import dev.quipu.layer.Store;
import dev.quipu.time.Periodic;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A durable queue in an ordered store, preferably the embedded engine, in front of a counter
 * elsewhere: it accepts views while that is slow or unreachable. One item per event, in order of
 * arrival; an item is removed when its view is durable. If a removal is lost, the view finds its
 * marker when it is counted again. An event that the counter rejects as invalid goes to the dead
 * letters, partition {@link #DEAD_LETTERS}, with the reason. On any other failure it stays, and the
 * next round continues after it and returns to it later, so that no event blocks others.
 * Thread-safe.
 */
public final class StoredQueue implements ViewQueue {
  /** Time between two rounds without work. */
  public static final Duration INTERVAL = Duration.ofMillis(200);

  /** Partition of events that cannot be counted: the fields of the event, and "reason". */
  static final String DEAD_LETTERS = "view-queue-dead-letters";

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final WaitingViews waiting;
  private final Periodic running;
  private final Runnable onClose;

  /**
   * Starts to move events from the store to the counter.
   *
   * @param onClose called on close
   * @throws IllegalArgumentException if the store does not support scans
   */
  public StoredQueue(Store store, ViewCounter views, Runnable onClose) {
    this.waiting = new WaitingViews(store, views, executor, Randomness.secure());
    this.onClose = onClose;
    this.running = new Periodic("quipu-view-queue", INTERVAL, waiting::round);
  }

  @Override
  public void send(ViewEvent event) {
    waiting.send(event);
  }

  @Override
  public void close() {
    running.close();
    executor.close();
    onClose.run();
  }
}
