package dev.quipu.store;

import dev.quipu.time.Randomness;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Texts that are new each time, whichever process makes them: for versions, which must not return,
 * and for calls that are to be told apart. For drivers. Thread-safe.
 */
public final class FreshTokens {
  private final String process = Long.toString(Randomness.secure().nextLong(), Character.MAX_RADIX);
  private final AtomicLong made = new AtomicLong();

  /** A source of its own. */
  public FreshTokens() {}

  /** The next one: short, of letters, digits, a dot and perhaps a hyphen. */
  public String next() {
    return process + "." + Long.toString(made.incrementAndGet(), Character.MAX_RADIX);
  }
}
