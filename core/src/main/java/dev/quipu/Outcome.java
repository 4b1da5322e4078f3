package dev.quipu;

/** What is known of a write that ended in an exception. */
public enum Outcome {
  /** Certainly not applied: it may be repeated. */
  NOT_APPLIED,
  /** Applied or not, wholly or not at all; and it may still be applied later. */
  UNKNOWN
}
