package dev.quipu.store;

/** How far apart items may lie that one batch writes. */
public enum Atomicity {
  /** A batch is one item. */
  ITEM,
  /** All items of a batch lie in one partition. */
  PARTITION,
  /** Anywhere. */
  STORE
}
