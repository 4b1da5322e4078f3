package dev.quipu.bench.ports.subject;

import dev.quipu.bench.ports.load.Workload;

/** Thrown when the counters differ from the adds reported as applied: the run is void. */
public final class WrongCountException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public WrongCountException(String subject, Workload workload, long expected, long found) {
    super(
        "%s, %s: %,d were applied, and the counters hold %,d"
            .formatted(subject, workload, expected, found));
  }
}
