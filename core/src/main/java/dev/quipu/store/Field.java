package dev.quipu.store;

import java.util.Set;

/** The value of one field of an item. */
public sealed interface Field {
  /** A signed 64-bit number. */
  record Number(long value) implements Field {}

  /** A text. */
  record Text(String value) implements Field {}

  /** A set of distinct texts. An empty set and an absent field are the same. */
  record Tokens(Set<String> values) implements Field {
    /** Copies the set. */
    public Tokens {
      values = Set.copyOf(values);
    }
  }
}
