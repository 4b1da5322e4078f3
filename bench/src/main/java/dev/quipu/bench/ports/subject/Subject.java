package dev.quipu.bench.ports.subject;

import dev.quipu.bench.ports.load.Workload;
import java.time.Duration;

/** A measured server or library. */
public interface Subject {
  /** Returns its name on the page. */
  String name();

  /**
   * Runs a workload for {@code time}.
   *
   * @throws WrongCountException if its counters differ from the adds that it reported as applied
   */
  Measurement measure(Workload workload, Duration time) throws Exception;
}
