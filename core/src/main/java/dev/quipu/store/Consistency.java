package dev.quipu.store;

/** How fresh a read must be. */
public enum Consistency {
  /** It sees every write that was acknowledged before it began. */
  STRONG,
  /** It may be stale; cheaper on some stores. */
  EVENTUAL
}
