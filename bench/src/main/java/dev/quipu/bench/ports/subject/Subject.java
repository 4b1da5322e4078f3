package dev.quipu.bench.ports.subject;

import dev.quipu.bench.ports.load.Workload;
import java.time.Duration;

/** Something that counts, under a load. */
public interface Subject {
  /** As the page names it. */
  String name();

  /**
   * Loads it for so long.
   *
   * @throws WrongCountException if it does not hold afterwards what it said it had applied
   */
  Measurement measure(Workload workload, Duration time) throws Exception;
}
