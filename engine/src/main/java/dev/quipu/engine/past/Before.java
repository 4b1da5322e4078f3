package dev.quipu.engine.past;

/** The value of a counter before its first change in a bucket. */
final class Before {
  static final int ABSENT = -1;

  private final byte[] name;
  private final int scale;
  private final long value;

  /**
   * Creates an entry.
   *
   * @param name in UTF-8
   * @param scale digits after the point; {@link #ABSENT} if the counter did not exist
   */
  Before(byte[] name, int scale, long value) {
    this.name = name;
    this.scale = scale;
    this.value = value;
  }

  /** Returns the name in UTF-8, which must not be changed. */
  byte[] name() {
    return name;
  }

  int scale() {
    return scale;
  }

  long value() {
    return value;
  }

  boolean exists() {
    return scale != ABSENT;
  }
}
