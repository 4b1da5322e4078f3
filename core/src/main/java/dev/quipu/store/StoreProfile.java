package dev.quipu.store;

import dev.quipu.Reason;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write.Change;
import java.util.Optional;
import java.util.Set;

/**
 * The capabilities and limits of an opened driver. Constant while it is open.
 *
 * @param name the store, in lower case
 * @param capabilities the supported capabilities
 * @param atomicity the scope within which a batch is atomic
 * @param batchItemsMax maximum number of writes in one batch
 * @param itemBytesMax maximum number of bytes of fields in one write: names and strings in UTF-8, 8
 *     per number. Updates may grow an item beyond that, until the store rejects them with {@link
 *     Reason#INVALID}
 * @param writeGroup the scope within which the store serializes writes, and their rate; empty if
 *     writes to different items do not affect each other
 */
public record StoreProfile(
    String name,
    Set<Capability> capabilities,
    Atomicity atomicity,
    int batchItemsMax,
    int itemBytesMax,
    Optional<WriteGroup> writeGroup) {
  /** Copies the set. */
  public StoreProfile {
    capabilities = Set.copyOf(capabilities);
  }

  /** Creates a profile without a write group. */
  public StoreProfile(
      String name,
      Set<Capability> capabilities,
      Atomicity atomicity,
      int batchItemsMax,
      int itemBytesMax) {
    this(name, capabilities, atomicity, batchItemsMax, itemBytesMax, Optional.empty());
  }

  /** Returns whether the store has a capability. */
  public boolean has(Capability capability) {
    return capabilities.contains(capability);
  }

  /**
   * Checks that the store has a capability.
   *
   * @throws IllegalArgumentException naming the store and the missing capability
   */
  public void require(Capability capability) {
    if (!has(capability)) {
      throw new IllegalArgumentException(lacks(capability).getMessage());
    }
  }

  /** Returns the exception for a call that needs a missing capability. */
  public UnsupportedOperationException lacks(Capability capability) {
    return new UnsupportedOperationException("store " + name + " lacks " + capability);
  }

  /**
   * A group of items to which the store serializes writes, such as an entity group of Datastore.
   *
   * @param scope the extent of a group: {@link Atomicity#ITEM} if each item is its own group
   * @param writesPerSecond writes per second that the store sustains in one group, according to its
   *     vendor
   */
  public record WriteGroup(Atomicity scope, int writesPerSecond) {}

  /** The scope within which a batch is atomic. */
  public enum Atomicity {
    /** A single item. */
    ITEM,
    /** The items of one partition. */
    PARTITION,
    /** All items of the store. */
    STORE
  }

  /** An optional feature of a store; {@code Store} emulates some of those that are missing. */
  public enum Capability {
    /** {@link Consistency#STRONG} reads. */
    STRONG_READ,
    /**
     * A single unconditional {@link Change.Add} to {@link Item#VALUE}, in one round trip and
     * without reading first.
     */
    NATIVE_ADD,
    /** Any {@link Write.Update} under any condition. */
    NATIVE_UPDATE,
    /** {@link StoreDriver#addTokens} and {@link StoreDriver#dropTokens}. */
    NATIVE_TOKENS,
    /** {@link BatchDriver#writeAll} without a token, and {@link BatchDriver#getAll}. */
    ATOMIC_BATCH,
    /** {@link BatchDriver#writeAll} returns the item as the last write of the batch left it. */
    BATCH_RETURNS,
    /** {@link BatchDriver#writeAll} with a token. */
    TOKEN_BATCH,
    /** {@link ScanDriver#scan}. */
    ORDERED_SCAN,
    /**
     * {@link ScanDriver#scan} with {@link Consistency#EVENTUAL} only: the result may be stale and
     * may miss new items. Implied by {@link #ORDERED_SCAN}.
     */
    EVENTUAL_SCAN,
    /** The store itself removes expired items, some time after their expiry. */
    NATIVE_EXPIRY,
    /** An acknowledged write survives a power cut. */
    DURABLE
  }
}
