package dev.quipu.time;

import java.security.SecureRandom;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Where random numbers come from. */
public final class Randomness {
  private Randomness() {}

  /** Unpredictable and thread-safe: for ids and tokens. */
  public static RandomGenerator secure() {
    return Secure.INSTANCE;
  }

  /** The same numbers for the same seed: for tests and simulations. Not thread-safe. */
  public static RandomGenerator seeded(long seed) {
    return new SplittableRandom(seed);
  }

  private static final class Secure {
    static final SecureRandom INSTANCE = new SecureRandom();
  }
}
