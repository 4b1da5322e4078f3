package dev.quipu.simulation.checker;

import dev.quipu.Guarantee;

/** The checker of each guarantee. */
public final class Checkers {
  private Checkers() {}

  /** Returns the checker of a guarantee. */
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
