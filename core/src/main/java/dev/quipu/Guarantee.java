package dev.quipu;

/**
 * A guarantee of a technique. A constant exists only if a checker in {@code dev.quipu.simulation}
 * can detect its violation, and a test shows that a technique without it fails that checker.
 */
public enum Guarantee {
  /** An add counts at most once, and one that was acknowledged counts. */
  AT_MOST_ONCE("an add counts at most once; an acknowledged one counts"),
  /** An add that was acknowledged counts, perhaps more than once. */
  AT_LEAST_ONCE("an acknowledged add counts, perhaps more than once"),
  /** An add repeated under its request id counts exactly once, no matter how often or how late. */
  IDEMPOTENT("an add repeated under its id counts exactly once, forever"),
  /** Like {@link #IDEMPOTENT}, for as long as ids are remembered. */
  IDEMPOTENT_WITHIN_WINDOW("an add repeated under its id within the window counts exactly once"),
  /** Floors and ceilings hold at every moment. */
  BOUNDED("floors and ceilings hold at every moment"),
  /**
   * An add returns the resulting value. If it was applied by an earlier attempt whose reply was
   * lost or received by another call, the value may be missing.
   */
  ADD_AND_GET("an add returns the resulting value"),
  /**
   * A read sees every add that was acknowledged before it began, and none that had not yet been
   * requested.
   */
  LINEARIZABLE_READ("a read sees every acknowledged add");

  private final String sentence;

  Guarantee(String sentence) {
    this.sentence = sentence;
  }

  /** Returns the guarantee in one sentence. */
  public String sentence() {
    return sentence;
  }
}
