package dev.quipu.store.group;

import dev.quipu.store.WriteResult;

/** The signal that ends the wait of a caller. */
sealed interface Signal {
  /** The caller becomes the leader. */
  record Lead() implements Signal {}

  /** The caller executes its add separately. */
  record Alone() implements Signal {}

  /** The add has this result. */
  record Done(WriteResult result) implements Signal {}

  /** The transaction failed. */
  record Failed(RuntimeException why) implements Signal {}
}
