package dev.quipu.engine.past;

/** A boundary is not, or no longer, one of those whose values are kept. */
final class MissingBoundaryException extends Exception {
  private static final long serialVersionUID = 1;

  private final long millis;

  MissingBoundaryException(long millis) {
    super("not kept: " + millis);
    this.millis = millis;
  }

  /** Returns the boundary, in milliseconds since 1970. */
  long millis() {
    return millis;
  }
}
