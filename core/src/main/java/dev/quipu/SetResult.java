package dev.quipu;

import java.util.OptionalLong;

/** The definite result of {@link Counters#set}. */
public sealed interface SetResult {
  /**
   * The value was set.
   *
   * @param value the value now
   */
  record Done(long value) implements SetResult {}

  /**
   * The counter did not have the expected value; nothing changed.
   *
   * @param value the value of the counter; empty if it was never written
   */
  record Mismatch(OptionalLong value) implements SetResult {}
}
