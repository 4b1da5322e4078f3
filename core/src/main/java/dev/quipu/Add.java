package dev.quipu;

import org.jspecify.annotations.Nullable;

/**
 * One request to change a counter.
 *
 * @param counter its name: 1 to {@link Limits#NAME_BYTES_MAX} bytes of UTF-8, no control characters
 * @param delta what to add; not zero
 * @param bounds what the counter must stay within
 * @param id the name of this request, under which a repeat counts once; null for none, and then a
 *     lost reply cannot be resolved
 */
public record Add(String counter, long delta, Bounds bounds, @Nullable RequestId id) {
  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the field that breaks one
   */
  public Add {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    if (delta == 0) {
      throw new IllegalArgumentException("delta is 0, which counts nothing");
    }
  }

  /** An unbounded add. */
  public Add(String counter, long delta, @Nullable RequestId id) {
    this(counter, delta, Bounds.none(), id);
  }

  /**
   * A mark of everything but the name and the delta, to tell a repeat from another request under
   * the same id: 0 when there are no bounds.
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
