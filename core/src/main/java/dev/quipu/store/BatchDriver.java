package dev.quipu.store;

import dev.quipu.Limits;
import dev.quipu.store.StoreProfile.Capability;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A driver with atomic batches, implemented by each driver that declares {@link
 * Capability#ATOMIC_BATCH}.
 */
public interface BatchDriver extends StoreDriver {
  /**
   * Applies several writes atomically, within {@link StoreProfile#atomicity}. With {@link
   * Capability#BATCH_RETURNS}, returns the item as the last write left it, except for a repeat
   * under a token.
   *
   * @param token if not null, repeats under the same token are applied once, within the retention
   *     time that the driver documents; needs {@link Capability#TOKEN_BATCH}
   */
  WriteResult writeAll(List<Write> writes, @Nullable RequestToken token);

  /** Applies a write as a batch of one, unless a driver has another way. */
  @Override
  default WriteResult write(Write write) {
    return writeAll(List.of(write), null);
  }

  /**
   * Returns several items as a consistent snapshot, within {@link StoreProfile#atomicity}: a batch
   * is visible completely or not at all. Strongly consistent.
   *
   * @return one result for each key, in the same order
   */
  List<Optional<Item>> getAll(List<Key> keys);

  /**
   * Returns several items, each by a strong read of its own, in one call: not a snapshot. A driver
   * overrides it if that is cheaper than {@link #getAll}.
   *
   * @return one result for each key, in the same order
   */
  default List<Optional<Item>> getEach(List<Key> keys) {
    return getAll(keys);
  }

  /**
   * Returns the driver as a {@link BatchDriver}.
   *
   * @throws UnsupportedOperationException if it does not support batches
   */
  static BatchDriver of(StoreDriver driver) {
    if (driver instanceof BatchDriver batches) {
      return batches;
    }
    throw driver.profile().lacks(Capability.ATOMIC_BATCH);
  }

  /**
   * The caller's id of one batch, by which the store recognizes a repeat.
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
