package dev.quipu.engine.state;

import dev.quipu.Limits;

/** What counters take of the heap, in bytes: estimates, rather too high than too low. */
public final class CounterMemory {
  /** A counter with the start of its name. */
  private static final int COUNTER = 52;

  /** Of these, what a removed counter leaves to the next one: its slot, and that of the index. */
  static final int LEFT = 40;

  /** A text without its content. */
  private static final int TEXT = 96;

  private CounterMemory() {}

  static long of(String name) {
    return ofName(Limits.utf8Length(name));
  }

  /** Returns the heap of a counter with a name of this length in UTF-8. */
  static long ofName(int bytes) {
    int rest = Math.max(0, bytes - CounterTablePage.START);
    return COUNTER + rest * 5L / 4; // rests of names grow by a quarter
  }

  /** Returns the heap of a text under a counter's name. */
  public static long of(byte[] text) {
    return (long) TEXT + text.length;
  }
}
