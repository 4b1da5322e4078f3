package dev.quipu;

import org.jspecify.annotations.Nullable;

/**
 * A request to add to a counter.
 *
 * @param counter the name of the counter: 1 to {@link Limits#NAME_BYTES_MAX} bytes of UTF-8, no
 *     control characters
 * @param delta what to add; not zero
 * @param bounds the bounds that the add must keep
 * @param id the request id: an add repeated under it counts exactly once; null for none, and then
 *     an unknown outcome cannot be resolved
 */
public record Add(String counter, long delta, Bounds bounds, @Nullable RequestId id) {
  /**
   * Creates a request.
   *
   * @throws IllegalArgumentException naming the field that is outside its limits
   */
  public Add {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    if (delta == 0) {
      throw new IllegalArgumentException("delta must not be 0");
    }
  }

  /** Creates a request without bounds. */
  public Add(String counter, long delta, @Nullable RequestId id) {
    this(counter, delta, Bounds.none(), id);
  }

  /**
   * Returns a hash of the bounds, which distinguishes a repeat from another request under the same
   * id; 0 if there are no bounds.
   */
  public int boundsMark() {
    if (bounds.isNone()) {
      return 0;
    }
    long mixed = bounds.floor() * 0x9E3779B97F4A7C15L + bounds.ceiling();
    mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
    int mark = (int) (mixed >>> 32);
    return mark == 0 ? 1 : mark;
  }
}
