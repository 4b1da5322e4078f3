package dev.quipu;

/** Receives crossings of thresholds by counters. */
@FunctionalInterface
public interface ThresholdListener {
  /**
   * A counter that was observed on the other side of a threshold than before.
   *
   * @param id the id of the crossing, which is the same in all calls for it: a receiver that must
   *     act once uses it to detect repeats
   * @param value the value that was observed when the crossing was reported
   * @param isUp whether the value reached the threshold; false if it fell below it
   */
  record Crossing(String id, String counter, long threshold, long value, boolean isUp) {}

  /**
   * Called at least once for each observed crossing, possibly by several processes. After an
   * exception it is called again, under the same id, when the counter is observed next.
   */
  void crossed(Crossing crossing);
}
