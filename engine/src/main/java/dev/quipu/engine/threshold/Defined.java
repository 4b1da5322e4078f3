package dev.quipu.engine.threshold;

import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Status;
import dev.quipu.backend.CounterThresholds.Threshold;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A threshold of this engine. */
final class Defined {
  /** Identifies it: another with the same id, after it was removed, has another number. */
  final long number;

  final NavigableMap<Long, Crossed> waiting = new TreeMap<>();
  Threshold threshold;
  long waitingBytes;

  /** The number of its last definition. */
  long version;

  long missed;

  Defined(long number, long version, Threshold threshold) {
    this.number = number;
    this.version = version;
    this.threshold = threshold;
  }

  boolean isUp() {
    return threshold.direction() == Direction.UP;
  }

  Status status() {
    return new Status(threshold, waiting.size(), missed);
  }
}
