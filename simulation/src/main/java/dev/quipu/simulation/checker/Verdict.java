package dev.quipu.simulation.checker;

/** What a checker found. */
public sealed interface Verdict {
  /** The promise is kept. */
  record Kept() implements Verdict {}

  /**
   * The promise is broken.
   *
   * @param why a sentence that says how
   */
  record Broken(String why) implements Verdict {}

  /** Whether the promise is kept. */
  default boolean isKept() {
    return this instanceof Kept;
  }
}
