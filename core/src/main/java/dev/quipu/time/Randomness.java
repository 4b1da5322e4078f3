package dev.quipu.time;

import java.security.SecureRandom;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Sources of randomness. */
public final class Randomness {
  private Randomness() {}

  /** Returns an unpredictable, thread-safe source, for ids and tokens. */
  public static RandomGenerator secure() {
    return Secure.INSTANCE;
  }

  /**
   * Returns a source that repeats its numbers for the same seed, for tests and simulations. Not
   * thread-safe.
   */
  public static RandomGenerator seeded(long seed) {
    return new SplittableRandom(seed);
  }

  private static final class Secure {
    static final SecureRandom INSTANCE = new SecureRandom();
  }
}
