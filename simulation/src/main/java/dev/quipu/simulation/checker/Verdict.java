package dev.quipu.simulation.checker;

/** The result of a checker. */
public sealed interface Verdict {
  /** The guarantee holds. */
  record Kept() implements Verdict {}

  /**
   * The guarantee is violated.
   *
   * @param why describes the violation
   */
  record Broken(String why) implements Verdict {}

  /** Returns whether the guarantee holds. */
  default boolean isKept() {
    return this instanceof Kept;
  }
}
