package dev.quipu;

/** What is known about the effect of a write that ended in an exception. */
public enum Outcome {
  /** The write was certainly not applied, and may be repeated. */
  NOT_APPLIED,
  /** The write was applied or not, as a whole, and may still be applied later. */
  UNKNOWN
}
