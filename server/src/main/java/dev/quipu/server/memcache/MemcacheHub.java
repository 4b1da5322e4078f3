package dev.quipu.server.memcache;

import dev.quipu.engine.Engine;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * What all connections share. Thread-safe.
 *
 * @param unsigned beginnings of the names that are counted without a sign
 */
record MemcacheHub(
    Engine engine,
    Optional<String> token,
    boolean mayFlush,
    List<String> unsigned,
    String version,
    Clock clock,
    long startNanos,
    AtomicInteger connected,
    LongAdder accepted,
    LongAdder commands) {
  static MemcacheHub of(
      Engine engine,
      Optional<String> token,
      boolean mayFlush,
      List<String> unsigned,
      String version,
      Clock clock) {
    return new MemcacheHub(
        engine,
        token,
        mayFlush,
        List.copyOf(unsigned),
        version,
        clock,
        clock.nanoTime(),
        new AtomicInteger(),
        new LongAdder(),
        new LongAdder());
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
    return (clock.nanoTime() - startNanos) / 1_000_000_000;
  }
}
