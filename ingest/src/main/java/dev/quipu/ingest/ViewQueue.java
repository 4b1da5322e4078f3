package dev.quipu.ingest;

import dev.quipu.view.ViewEvent;

/** Takes views to be counted later, each at least once: {@link SqsQueue}, {@link StoredQueue}. */
public interface ViewQueue extends AutoCloseable {
  /**
   * Returns when the queue has the event for good.
   *
   * @throws dev.quipu.QuipuException if it does not, or if that is not known; repeat: it counts
   *     once
   */
  void send(ViewEvent event);

  @Override
  void close();
}
