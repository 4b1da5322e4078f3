package dev.quipu.bench.ports;

/** A count that is not the number of adds which were answered as applied: all else is worthless. */
final class WrongCountException extends RuntimeException {
  private static final long serialVersionUID = 1;

  WrongCountException(String subject, Shape shape, long expected, long found) {
    super(
        "%s, %s: %,d were applied, and the counters hold %,d"
            .formatted(subject, shape, expected, found));
  }
}
