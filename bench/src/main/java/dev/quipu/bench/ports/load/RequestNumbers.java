package dev.quipu.bench.ports.load;

/** Numbers the requests of a run, and spreads them over keys; the same in every run. */
public final class RequestNumbers {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private long last;

  /** One that was not given before. */
  public long next() {
    return ++last;
  }

  /** The key that a request with this number is for. */
  public static int key(long number, int keys) {
    // The high bits are the well mixed ones.
    return (int) (((number * SPREAD) >>> 33) % keys);
  }
}
