package dev.quipu.verify;

import dev.quipu.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What was asked of one counter and heard, by a clock; and whether a reading can be true. */
final class Truth {
  private final List<Asked> adds = new ArrayList<>();

  /** One add: who asked for it ends it. */
  static final class Asked {
    private long delta;
    private final long askedMillis;
    private long ackedMillis = Long.MAX_VALUE;

    private Asked(long delta, long askedMillis) {
      this.delta = delta;
      this.askedMillis = askedMillis;
    }

    /** It was acknowledged. Without this, nobody knows. */
    void acked(long millis) {
      ackedMillis = millis;
    }

    /** It certainly has no effect. */
    void refused() {
      delta = 0;
    }
  }

  synchronized Asked ask(long delta, long millis) {
    Asked asked = new Asked(delta, millis);
    adds.add(asked);
    return asked;
  }

  /** How many adds were acknowledged. */
  synchronized long acked() {
    return adds.stream().filter(add -> add.ackedMillis < Long.MAX_VALUE).count();
  }

  /**
   * What is wrong with a reading, if it says what the counter was at some moment within these.
   *
   * @param from the first moment, in milliseconds
   * @param until the last
   */
  synchronized Optional<String> wrong(Reading reading, long from, long until) {
    long low = 0;
    long high = 0;
    for (Asked add : adds) {
      if (add.ackedMillis < from) {
        low += add.delta;
        high += add.delta;
      } else if (add.askedMillis <= until) {
        low += Math.min(0, add.delta);
        high += Math.max(0, add.delta);
      }
    }
    boolean isOrdered = reading.low() <= reading.value() && reading.value() <= reading.high();
    boolean isPossible = reading.high() >= low && reading.low() <= high;
    return isOrdered && isPossible
        ? Optional.empty()
        : Optional.of("%s, but only %d..%d was possible".formatted(reading, low, high));
  }

  /** What is wrong with the value at the end: what is unknown may count or not. */
  synchronized Optional<String> wrongAtEnd(long value) {
    return wrong(Reading.exact(value), Long.MAX_VALUE - 1, Long.MAX_VALUE);
  }
}
