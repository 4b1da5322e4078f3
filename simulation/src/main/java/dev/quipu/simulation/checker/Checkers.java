package dev.quipu.simulation.checker;

import dev.quipu.Guarantee;

/** Which checker proves which promise. */
public final class Checkers {
  private Checkers() {}

  /** The checker of a promise: there is one for each. */
  public static Checker of(Guarantee guarantee) {
    return switch (guarantee) {
      case AT_MOST_ONCE -> new SumChecker();
      case AT_LEAST_ONCE -> new AtLeastOnceChecker();
      case IDEMPOTENT, IDEMPOTENT_WITHIN_WINDOW -> new ExactlyOnceChecker();
      case BOUNDED -> new BoundsChecker();
      case ADD_AND_GET -> new TilingChecker();
      case LINEARIZABLE_READ -> new IntervalChecker();
    };
  }
}
