package dev.quipu.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Empty stores on shared servers: each has its own prefix. */
final class Stores {
  private static final AtomicInteger PREFIXES = new AtomicInteger();

  private Stores() {}

  static String newUri(String scheme, int port, Duration timeout) {
    return "%s://127.0.0.1:%d?prefix=t%d&timeoutMillis=%d"
        .formatted(scheme, port, PREFIXES.incrementAndGet(), timeout.toMillis());
  }
}
