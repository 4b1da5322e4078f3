package dev.quipu.simulation.region;

import dev.quipu.store.StoreDriver;
import java.util.List;
import java.util.Optional;

/**
 * One region's replica of a {@link GlobalTable}.
 *
 * @param <K> the key of an item
 * @param <I> an item as a whole
 */
public interface Replica<K, I> {
  /** Returns the driver by which the region reads and writes it. */
  StoreDriver driver();

  /** Returns what was written since the last call, in order, excluding {@link #receive}. */
  List<Written<K, I>> written();

  /** Stores a change of another region. */
  void receive(Written<K, I> change);

  /**
   * An item as a write left it.
   *
   * @param item empty if it was deleted
   */
  record Written<K, I>(K key, Optional<I> item) {}
}
