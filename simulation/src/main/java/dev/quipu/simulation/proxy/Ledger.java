package dev.quipu.simulation.proxy;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Records what actually reached the store, according to the store's own replies, regardless of what
 * the client received. Thread-safe.
 */
public final class Ledger {
  private final ToLongFunction<byte[]> measure;
  private final Map<WireFault, Long> fired = new EnumMap<>(WireFault.class);
  private long writes;
  private long applied;
  private long unknownOutcomes;
  private long sum;

  /**
   * Creates an empty ledger.
   *
   * @param measure what a write adds to the measured sum; 0 for others
   */
  Ledger(ToLongFunction<byte[]> measure) {
    this.measure = measure;
  }

  synchronized void note(WireFault fault) {
    fired.merge(fault, 1L, Long::sum);
  }

  /** Records the store's reply to a write. */
  synchronized void answered(Protocol.Request request, boolean isApplied) {
    writes++;
    if (isApplied) {
      applied++;
      sum += measure.applyAsLong(request.written());
    }
  }

  /** Records a write that reached the store but whose reply never came back. */
  synchronized void lost() {
    unknownOutcomes++;
  }

  /** Returns how often each fault occurred. */
  public synchronized Map<WireFault, Long> fired() {
    return Map.copyOf(fired);
  }

  /** Returns how often a fault occurred. */
  public synchronized long fired(WireFault fault) {
    return fired.getOrDefault(fault, 0L);
  }

  /** Returns the number of writes that the store replied to. */
  public synchronized long writes() {
    return writes;
  }

  /** Returns the number of writes that the store applied. */
  public synchronized long applied() {
    return applied;
  }

  /**
   * Returns the number of writes whose outcome the proxy does not know: must be 0 for the other
   * figures to be exact.
   */
  public synchronized long unknownOutcomes() {
    return unknownOutcomes;
  }

  /** Returns the sum of the measure over all applied writes. */
  public synchronized long sum() {
    return sum;
  }
}
