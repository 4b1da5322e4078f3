package dev.quipu.simulation.checker;

import dev.quipu.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A test oracle for readings that may be stale. Records the adds to one counter that began at 0,
 * with the times of request and acknowledgement, and checks which readings they allow. Thread-safe.
 */
public final class ReadingOracle {
  private final List<Pending> adds = new ArrayList<>();

  /** Creates an oracle without adds. */
  public ReadingOracle() {}

  /** An add, whose outcome is unknown until it is reported here. */
  public final class Pending {
    private long delta;
    private final long beganMillis;
    private long ackedMillis = Long.MAX_VALUE;

    private Pending(long delta, long beganMillis) {
      this.delta = delta;
      this.beganMillis = beganMillis;
    }

    /** Reports that it was acknowledged. */
    public void acked(long millis) {
      synchronized (ReadingOracle.this) {
        ackedMillis = millis;
      }
    }

    /** Reports that it has certainly no effect. */
    public void rejected() {
      synchronized (ReadingOracle.this) {
        delta = 0;
      }
    }
  }

  /** Records an add; to be called before it is sent. */
  public synchronized Pending begin(long delta, long millis) {
    Pending add = new Pending(delta, millis);
    adds.add(add);
    return add;
  }

  /** Returns the number of acknowledged adds. */
  public synchronized long acked() {
    return adds.stream().filter(add -> add.ackedMillis < Long.MAX_VALUE).count();
  }

  /** Returns the sum of all acknowledged adds. */
  public synchronized long sum() {
    return adds.stream()
        .filter(add -> add.ackedMillis < Long.MAX_VALUE)
        .mapToLong(add -> add.delta)
        .sum();
  }

  /**
   * Returns the sum of the absolute amounts of all adds that began at or after a moment and were
   * not rejected: the maximum justified width of a reading if older adds have settled.
   */
  public synchronized long amountSince(long millis) {
    return adds.stream()
        .filter(add -> add.beganMillis >= millis)
        .mapToLong(add -> Math.abs(add.delta))
        .sum();
  }

  /**
   * Returns the error, if any, of a reading that claims to hold at some moment of an interval. A
   * reading that is wider than justified is an error too.
   *
   * @param from the first moment, in milliseconds
   * @param until the last
   * @param widthMax maximum difference of {@code high} and {@code low}; {@link Long#MAX_VALUE} for
   *     any
   */
  public synchronized Optional<String> wrong(
      Reading reading, long from, long until, long widthMax) {
    long low = 0;
    long high = 0;
    for (Pending add : adds) {
      if (add.ackedMillis < from) {
        low += add.delta;
        high += add.delta;
      } else if (add.beganMillis <= until) {
        low += Math.min(0, add.delta);
        high += Math.max(0, add.delta);
      }
    }
    boolean isOrdered = reading.low() <= reading.value() && reading.value() <= reading.high();
    boolean isPossible = reading.high() >= low && reading.low() <= high;
    if (!isOrdered || !isPossible) {
      return Optional.of("%s; possible values are %d..%d".formatted(reading, low, high));
    }
    long width = reading.high() - reading.low();
    return (width >= 0 && width <= widthMax) || widthMax == Long.MAX_VALUE
        ? Optional.empty()
        : Optional.of("%s; the maximum justified width is %d".formatted(reading, widthMax));
  }

  /** Returns the error of the final value, if any: an add with unknown outcome may count or not. */
  public Optional<String> wrongAtEnd(long value) {
    return wrong(Reading.exact(value), Long.MAX_VALUE - 1, Long.MAX_VALUE, 0);
  }
}
