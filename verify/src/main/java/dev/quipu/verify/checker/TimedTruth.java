package dev.quipu.verify.checker;

import dev.quipu.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What was asked of one counter that began at 0, and when it was heard of, by a clock; and whether
 * a reading can be true that tells what the counter was at a moment, be it long gone. Thread-safe.
 */
public final class TimedTruth {
  private final List<Asked> adds = new ArrayList<>();

  /** Nothing was asked yet. */
  public TimedTruth() {}

  /** One add. Who asked for it says what came of it, or nobody knows. */
  public final class Asked {
    private long delta;
    private final long askedMillis;
    private long ackedMillis = Long.MAX_VALUE;

    private Asked(long delta, long askedMillis) {
      this.delta = delta;
      this.askedMillis = askedMillis;
    }

    /** It was acknowledged. */
    public void acked(long millis) {
      synchronized (TimedTruth.this) {
        ackedMillis = millis;
      }
    }

    /** It certainly has no effect. */
    public void refused() {
      synchronized (TimedTruth.this) {
        delta = 0;
      }
    }
  }

  /** Before an add is sent. */
  public synchronized Asked ask(long delta, long millis) {
    Asked asked = new Asked(delta, millis);
    adds.add(asked);
    return asked;
  }

  /** How many adds were acknowledged. */
  public synchronized long acked() {
    return adds.stream().filter(add -> add.ackedMillis < Long.MAX_VALUE).count();
  }

  /** The sum of all adds that were acknowledged. */
  public synchronized long sum() {
    return adds.stream()
        .filter(add -> add.ackedMillis < Long.MAX_VALUE)
        .mapToLong(add -> add.delta)
        .sum();
  }

  /**
   * The sum of the absolute amounts of all adds that were asked for at or after a moment and may
   * have counted: the widest reading that is justified if what is older has settled.
   */
  public synchronized long askedSince(long millis) {
    return adds.stream()
        .filter(add -> add.askedMillis >= millis)
        .mapToLong(add -> Math.abs(add.delta))
        .sum();
  }

  /**
   * What is wrong with a reading, if it says what the counter was at some moment within these. It
   * is wrong too if it is wider than there is reason for: else one that says nothing is never
   * wrong.
   *
   * @param from the first moment, in milliseconds
   * @param until the last
   * @param widthMax most that {@code high} may be above {@code low}; {@link Long#MAX_VALUE} for any
   */
  public synchronized Optional<String> wrong(
      Reading reading, long from, long until, long widthMax) {
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
    if (!isOrdered || !isPossible) {
      return Optional.of("%s, but only %d..%d was possible".formatted(reading, low, high));
    }
    long width = reading.high() - reading.low();
    return (width >= 0 && width <= widthMax) || widthMax == Long.MAX_VALUE
        ? Optional.empty()
        : Optional.of("%s, but a width of %d at most is justified".formatted(reading, widthMax));
  }

  /** What is wrong with the value at the end: what is unknown may count or not. */
  public Optional<String> wrongAtEnd(long value) {
    return wrong(Reading.exact(value), Long.MAX_VALUE - 1, Long.MAX_VALUE, 0);
  }
}
