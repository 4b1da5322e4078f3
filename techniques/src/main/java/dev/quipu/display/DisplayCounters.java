package dev.quipu.display;

import dev.quipu.RequestId;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Counters that are shown more often than the database behind them can be asked: {@link CacheFirst}
 * and {@link DurableFirst}. Thread-safe and blocking.
 *
 * <p>Both methods throw {@link IllegalArgumentException} for a name outside {@link
 * dev.quipu.Limits}.
 */
public interface DisplayCounters {
  /**
   * Counts one view.
   *
   * @param id the name of this view, under which a repeat counts once; empty for none
   * @return the number to show, if it is known without another call
   * @throws dev.quipu.QuipuException if it did not count, or if that is not known
   * @throws UnsupportedOperationException if there is an id, and this way of counting keeps none
   */
  OptionalLong view(String name, Optional<RequestId> id);

  /**
   * The number to show, and how sure it is; empty if it was never written.
   *
   * @throws dev.quipu.QuipuException if it cannot be told
   */
  Optional<DisplayReading> read(String name);
}
