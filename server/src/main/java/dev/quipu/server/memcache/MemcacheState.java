package dev.quipu.server.memcache;

import dev.quipu.engine.Engine;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The state that all connections share. Thread-safe.
 *
 * @param unsigned beginnings of the names that are counted without a sign
 */
record MemcacheState(
    Engine engine,
    PortOptions options,
    List<String> unsigned,
    String version,
    Clock clock,
    Statistics statistics) {
  /** What {@code stats} returns besides what the engine knows. */
  record Statistics(
      long startNanos, AtomicInteger connected, LongAdder accepted, LongAdder commands) {}

  static MemcacheState of(
      PortOptions options, Engine engine, List<String> unsigned, String version, Clock clock) {
    Statistics statistics =
        new Statistics(clock.nanoTime(), new AtomicInteger(), new LongAdder(), new LongAdder());
    return new MemcacheState(engine, options, List.copyOf(unsigned), version, clock, statistics);
  }

  /** Whether a name is counted without a sign. */
  boolean isUnsigned(String name) {
    for (String prefix : unsigned) {
      if (name.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }

  long upSeconds() {
    return (clock.nanoTime() - statistics.startNanos) / 1_000_000_000;
  }
}
