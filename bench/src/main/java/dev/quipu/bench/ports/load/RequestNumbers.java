package dev.quipu.bench.ports.load;

/** Numbers the requests of a run and distributes them over keys, deterministically. */
public final class RequestNumbers {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private long last;

  /** Returns the next unique number. */
  public long next() {
    return ++last;
  }

  /** Returns the key of a request. */
  public static int key(long number, int keys) {
    // The high bits are better mixed; as a fraction, which is faster than a remainder.
    return (int) ((((number * SPREAD) >>> Integer.SIZE) * keys) >>> Integer.SIZE);
  }
}
