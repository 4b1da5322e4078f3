package dev.quipu.simulation.region;

import dev.quipu.store.StoreDriver;
import java.util.List;
import java.util.Optional;

/**
 * One region's replica of a {@link GlobalTable}.
 *
 * @param <K> what names an item
 * @param <I> an item as a whole
 */
public interface Replica<K, I> {
  /** How the region reads and writes it. */
  StoreDriver driver();

  /** What was written since this was last called, in order; not what {@link #receive} did. */
  List<Written<K, I>> written();

  /** Stores what another region wrote. */
  void receive(Written<K, I> change);

  /**
   * An item as a write left it.
   *
   * @param item empty if it was deleted
   */
  record Written<K, I>(K key, Optional<I> item) {}
}
