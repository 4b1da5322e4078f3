package dev.quipu.store;

import dev.quipu.store.StoreProfile.Capability;
import java.util.Optional;

/** The definite result of a write. */
public sealed interface WriteResult {
  /**
   * The write was applied.
   *
   * @param after the item as this write left it; empty after a delete. After a batch, the item as
   *     its last write left it, from a store with {@link Capability#BATCH_RETURNS}; else empty
   */
  record Applied(Optional<Item> after) implements WriteResult {}

  /**
   * A condition did not hold, and nothing was written.
   *
   * @param key the item whose condition did not hold: in a batch, the first of them
   * @param found the item as it was found; empty if it was missing
   */
  record ConditionFailed(Key key, Optional<Item> found) implements WriteResult {}
}
