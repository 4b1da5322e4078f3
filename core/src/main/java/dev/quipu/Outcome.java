package dev.quipu;

/** What is known about the effect of a write that ended in an exception. */
public enum Outcome {
  /** The write was certainly not applied, and may be repeated. */
  NOT_APPLIED,
  /** The write may or may not have been applied, never in part; it may still be applied later. */
  UNKNOWN
}
