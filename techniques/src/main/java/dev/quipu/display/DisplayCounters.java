package dev.quipu.display;

import dev.quipu.RequestId;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Counters that are shown more often than their database can be read: {@link CacheFirst} and {@link
 * DurableFirst}. Thread-safe and blocking.
 *
 * <p>Both methods throw {@link IllegalArgumentException} for a name outside {@link
 * dev.quipu.Limits}.
 */
public interface DisplayCounters {
  /**
   * Counts one view.
   *
   * @param id the request id of this view: a view repeated under it counts exactly once; empty for
   *     none
   * @return the number to show, if it is known without another call
   * @throws dev.quipu.QuipuException if it was not counted, or the outcome is unknown
   * @throws UnsupportedOperationException if there is an id, and this variant does not support ids
   */
  OptionalLong view(String name, Optional<RequestId> id);

  /**
   * Returns the number to show, with its bounds; empty if it was never written.
   *
   * @throws dev.quipu.QuipuException if it cannot be determined
   */
  Optional<DisplayReading> read(String name);
}
