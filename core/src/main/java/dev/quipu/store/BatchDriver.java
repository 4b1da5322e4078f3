package dev.quipu.store;

import dev.quipu.Limits;
import dev.quipu.store.StoreProfile.Capability;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A driver with atomic batches. A driver that declares {@link Capability#ATOMIC_BATCH} implements
 * it.
 */
public interface BatchDriver extends StoreDriver {
  /**
   * Applies several writes, all or none, within {@link StoreProfile#atomicity}. With {@link
   * Capability#BATCH_RETURNS}, returns the item as the last write left it, except for a repeat
   * under a token.
   *
   * @param token if not null, a repeat under the same token is applied once, within a time that the
   *     driver's documentation states; needs {@link Capability#TOKEN_BATCH}
   */
  WriteResult writeAll(List<Write> writes, @Nullable RequestToken token);

  /**
   * Returns several items as of one moment, within {@link StoreProfile#atomicity}: no batch is seen
   * in part. Strongly consistent.
   *
   * @return one answer for each key, in the same order
   */
  List<Optional<Item>> getAll(List<Key> keys);

  /**
   * Returns the driver as one with batches.
   *
   * @throws UnsupportedOperationException if it has none
   */
  static BatchDriver of(StoreDriver driver) {
    if (driver instanceof BatchDriver batches) {
      return batches;
    }
    throw driver.profile().lacks(Capability.ATOMIC_BATCH);
  }

  /**
   * A caller's name for one batch, by which the store itself tells a repeat.
   *
   * @param text 1 to {@link #BYTES_MAX} bytes of UTF-8
   */
  record RequestToken(String text) {
    /** Longest token, in bytes of UTF-8: the smallest limit among the stores. */
    public static final int BYTES_MAX = 36;

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if {@code text} is outside them
     */
    public RequestToken {
      Limits.checkText("request token", text, BYTES_MAX);
    }
  }
}
