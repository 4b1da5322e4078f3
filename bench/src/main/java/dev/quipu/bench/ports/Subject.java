package dev.quipu.bench.ports;

import java.time.Duration;

/** Something that counts, under a load. */
interface Subject {
  /** As the page names it. */
  String name();

  /**
   * Loads it for so long.
   *
   * @throws WrongCountException if it does not hold afterwards what it said it had applied
   */
  Turn turn(Shape shape, Duration time) throws Exception;
}
