package dev.quipu.ingest;

import dev.quipu.view.ViewEvent;

/** A queue of views, delivered at least once: {@link SqsQueue}, {@link StoredQueue}. */
public interface ViewQueue extends AutoCloseable {
  /**
   * Sends an event; returns when it is durable.
   *
   * @throws dev.quipu.QuipuException if it is not, or that is unknown. Retry: the event counts
   *     exactly once
   */
  void send(ViewEvent event);

  @Override
  void close();
}
