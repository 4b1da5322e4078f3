package dev.quipu.store;

import dev.quipu.time.Randomness;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Generates strings that are unique across processes: for versions, which must never recur, and for
 * ids of calls. For drivers. Thread-safe.
 */
public final class FreshTokens {
  private final String process = Long.toString(Randomness.secure().nextLong(), Character.MAX_RADIX);
  private final AtomicLong made = new AtomicLong();

  /** Creates an independent generator. */
  public FreshTokens() {}

  /** Returns the next token: short, of letters, digits, a dot and perhaps a hyphen. */
  public String next() {
    return process + "." + Long.toString(made.incrementAndGet(), Character.MAX_RADIX);
  }
}
