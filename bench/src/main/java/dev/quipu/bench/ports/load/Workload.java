package dev.quipu.bench.ports.load;

/**
 * A workload.
 *
 * @param kind of the adds
 * @param keys number of counters
 * @param pipeline requests that a connection sends before it waits for all their replies
 */
public record Workload(AddKind kind, int keys, int pipeline) {
  public static final int CONNECTIONS = 50;
  public static final int KEYS_MAX = 10_000;

  public int inFlight() {
    return CONNECTIONS * pipeline;
  }
}
