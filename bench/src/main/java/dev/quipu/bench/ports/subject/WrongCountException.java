package dev.quipu.bench.ports.subject;

import dev.quipu.bench.ports.load.Workload;

/** A count that is not the number of adds which were answered as applied: all else is worthless. */
public final class WrongCountException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public WrongCountException(String subject, Workload workload, long expected, long found) {
    super(
        "%s, %s: %,d were applied, and the counters hold %,d"
            .formatted(subject, workload, expected, found));
  }
}
