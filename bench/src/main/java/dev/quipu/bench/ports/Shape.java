package dev.quipu.bench.ports;

/**
 * One load.
 *
 * @param kind what is asked of an add
 * @param keys counters that are added to
 * @param pipeline requests that a connection sends before it waits for all their replies
 */
record Shape(Kind kind, int keys, int pipeline) {
  static final int CONNECTIONS = 50;
  static final int KEYS_MAX = 10_000;

  int inFlight() {
    return CONNECTIONS * pipeline;
  }
}
