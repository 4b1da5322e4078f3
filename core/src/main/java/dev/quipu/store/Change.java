package dev.quipu.store;

/** One change to one field of an item. */
public sealed interface Change {
  /** The field that changes. */
  String field();

  /**
   * Adds to a number, which starts at 0. A sum outside 64 bits fails the write like a condition
   * that does not hold.
   */
  record Add(String field, long delta) implements Change {}

  /** Sets a field. */
  record Put(String field, Field value) implements Change {}

  /** Adds a token to a set, which starts empty. Adding one that is there changes nothing. */
  record AddToken(String field, String token) implements Change {}

  /** Takes a token out of a set. Taking one that is not there changes nothing. */
  record DropToken(String field, String token) implements Change {}
}
