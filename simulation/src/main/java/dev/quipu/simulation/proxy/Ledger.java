package dev.quipu.simulation.proxy;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What really reached the store, by the store's own replies, whatever the client heard.
 * Thread-safe.
 */
public final class Ledger {
  private final ToLongFunction<byte[]> measure;
  private final Map<WireFault, Long> fired = new EnumMap<>(WireFault.class);
  private long writes;
  private long applied;
  private long unheard;
  private long sum;

  /**
   * An empty one.
   *
   * @param measure what a write adds to the number of interest; 0 for others
   */
  Ledger(ToLongFunction<byte[]> measure) {
    this.measure = measure;
  }

  synchronized void note(WireFault fault) {
    fired.merge(fault, 1L, Long::sum);
  }

  /** The store answered a write. */
  synchronized void answered(Protocol.Request request, boolean isApplied) {
    writes++;
    if (isApplied) {
      applied++;
      sum += measure.applyAsLong(request.written());
    }
  }

  /** A write reached the store, and its answer never came back. */
  synchronized void lost() {
    unheard++;
  }

  /** How often each fault happened. */
  public synchronized Map<WireFault, Long> fired() {
    return Map.copyOf(fired);
  }

  /** How often a fault happened. */
  public synchronized long fired(WireFault fault) {
    return fired.getOrDefault(fault, 0L);
  }

  /** Writes that the store answered. */
  public synchronized long writes() {
    return writes;
  }

  /** Writes that the store applied. */
  public synchronized long applied() {
    return applied;
  }

  /**
   * Writes of which the proxy itself does not know: must be 0 for the other figures to be exact.
   */
  public synchronized long unheard() {
    return unheard;
  }

  /** What all applied writes add, by the measure. */
  public synchronized long sum() {
    return sum;
  }
}
