package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The state shared by all connections. Thread-safe. */
final class MemcacheState {
  private final PortOptions options;
  private final List<String> unsigned; // name prefixes
  private final String version;
  private final Clock clock;
  private final long startNanos;
  final AtomicInteger connected = new AtomicInteger();
  final LongAdder accepted = new LongAdder();
  final LongAdder commands = new LongAdder();

  MemcacheState(PortOptions options, List<String> unsigned, String version, Clock clock) {
    this.options = options;
    this.unsigned = List.copyOf(unsigned);
    this.version = version;
    this.clock = clock;
    this.startNanos = clock.nanoTime();
  }

  PortOptions options() {
    return options;
  }

  /** Returns the version that clients see. */
  String version() {
    return "1.6.18-quipu-" + version;
  }

  Slot slot(CounterAccess counters, String key) {
    return new Slot(counters, key, unsigned.stream().anyMatch(key::startsWith));
  }

  long upSeconds() {
    return (clock.nanoTime() - startNanos) / 1_000_000_000;
  }
}
