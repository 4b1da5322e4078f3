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
 * A durable queue in a store with order, at best the embedded engine, before a counter elsewhere:
 * views are taken while that is slow or away. One item an event, in order of arrival; an item is
 * removed when its view is durable. A view that is counted twice, because a removal was lost, finds
 * its marker. An event that the counter can never take goes to the dead letters, partition {@link
 * #DEAD_LETTERS}, with the reason. One that fails in any other way stays, and the next round goes
 * on after it, and comes back to it in its turn: so none blocks those after it. Thread-safe.
 */
public final class StoredQueue implements ViewQueue {
  /** Time between two rounds, when there is nothing to do. */
  public static final Duration INTERVAL = Duration.ofMillis(200);

  /** Where events lie that cannot be counted: the fields of the event, and "reason". */
  static final String DEAD_LETTERS = "view-queue-dead-letters";

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final WaitingViews waiting;
  private final Periodic running;
  private final Runnable onClose;

  /**
   * Begins to carry what is in the store to the counter.
   *
   * @param onClose what to close with it
   * @throws IllegalArgumentException if the store has no order
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
