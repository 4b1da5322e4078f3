package dev.quipu.server.net;

import dev.quipu.time.Clock;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Counts the requests and connections of a port. Thread-safe. */
public final class PortMeter {
  private final LongAdder successes = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder unknowns = new LongAdder();
  private final AtomicInteger connections = new AtomicInteger();
  private volatile @Nullable LongConsumer times;

  /** Creates a meter that counts, but does not measure times. */
  public PortMeter() {}

  /** Passes the times between requests and replies, in nanoseconds, to a consumer from now on. */
  public void measure(LongConsumer consumer) {
    times = consumer;
  }

  /** Returns the time now, for {@link #since}; 0 if times are not measured. */
  public long start() {
    return times == null ? 0 : Clock.system().nanoTime();
  }

  /** Returns the time since {@link #start}, in nanoseconds. */
  public long since(long start) {
    return start == 0 ? 0 : Clock.system().nanoTime() - start;
  }

  /**
   * Counts requests that were answered at the same time.
   *
   * @param failed of these, how many were answered by an error
   * @param nanos time since they were decoded; 0 if it was not measured
   */
  public void answered(int requests, int failed, long nanos) {
    if (requests > failed) {
      successes.add(requests - failed);
    }
    if (failed > 0) {
      errors.add(failed);
    }
    LongConsumer consumer = times;
    if (nanos != 0 && consumer != null) {
      consumer.accept(nanos);
    }
  }

  /** Counts requests whose outcome is unknown. */
  public void unknown(int requests) {
    unknowns.add(requests);
  }

  /** Counts a new connection. */
  public void opened() {
    connections.incrementAndGet();
  }

  /** Counts a closed connection. */
  public void closed() {
    connections.decrementAndGet();
  }

  /** Returns the number of open connections. */
  public int connections() {
    return connections.get();
  }

  /** Returns the number of requests with a definite answer that is not an error. */
  public long successes() {
    return successes.sum();
  }

  /** Returns the number of requests that were answered by an error, and had no effect. */
  public long errors() {
    return errors.sum();
  }

  /** Returns the number of requests whose outcome is unknown. */
  public long unknowns() {
    return unknowns.sum();
  }
}
