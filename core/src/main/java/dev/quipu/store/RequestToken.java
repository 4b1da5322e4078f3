package dev.quipu.store;

import dev.quipu.Limits;

/**
 * A caller's name for one batch, by which the store itself tells a repeat.
 *
 * @param text 1 to {@link #BYTES_MAX} bytes of UTF-8
 */
public record RequestToken(String text) {
  /** Longest token, in bytes of UTF-8: the smallest limit among the stores. */
  public static final int BYTES_MAX = 36;

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if {@code text} is outside them
   */
  public RequestToken {
    Limits.checkText("request token", text, BYTES_MAX);
  }
}
