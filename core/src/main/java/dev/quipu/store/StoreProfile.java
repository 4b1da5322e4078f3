package dev.quipu.store;

import dev.quipu.Reason;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write.Change;
import java.util.Optional;
import java.util.Set;

/**
 * What an opened driver is able to do. Constant while it is open.
 *
 * @param name the store, in lower case
 * @param capabilities what it can do
 * @param atomicity how far apart the items of a batch may lie
 * @param batchItemsMax most writes in one batch
 * @param itemBytesMax most bytes of fields in one write: names and texts in UTF-8, 8 a number. An
 *     item may grow beyond by updates, until the store rejects with {@link Reason#INVALID}
 * @param writeGroup what the store writes one after the other, and at what rate; empty where
 *     writers of other items do not matter
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

  /** One without groups of items that are written one after the other. */
  public StoreProfile(
      String name,
      Set<Capability> capabilities,
      Atomicity atomicity,
      int batchItemsMax,
      int itemBytesMax) {
    this(name, capabilities, atomicity, batchItemsMax, itemBytesMax, Optional.empty());
  }

  /** Whether the store can do this. */
  public boolean has(Capability capability) {
    return capabilities.contains(capability);
  }

  /**
   * Rejects a store that cannot do this.
   *
   * @throws IllegalArgumentException naming the store and what it lacks
   */
  public void require(Capability capability) {
    if (!has(capability)) {
      throw new IllegalArgumentException(lacks(capability).getMessage());
    }
  }

  /** The exception for a call that the store cannot do. */
  public UnsupportedOperationException lacks(Capability capability) {
    return new UnsupportedOperationException("store " + name + " lacks " + capability);
  }

  /**
   * Items that a store writes one after the other, as Datastore does in an entity group.
   *
   * @param scope how far apart they lie: {@link Atomicity#ITEM} if each item is a group of its own
   * @param writesPerSecond how many the store sustains in one group, by its vendor's word
   */
  public record WriteGroup(Atomicity scope, int writesPerSecond) {}

  /** How far apart items may lie that one batch writes. */
  public enum Atomicity {
    /** A batch is one item. */
    ITEM,
    /** All items of a batch lie in one partition. */
    PARTITION,
    /** Anywhere. */
    STORE
  }

  /** What a store may be able to do; {@code Store} simulates some of what is missing. */
  public enum Capability {
    /** {@link Consistency#STRONG} reads. */
    STRONG_READ,
    /**
     * A lone, unconditional {@link Change.Add} to {@link Item#VALUE}, in one round trip and without
     * a reader in between.
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
     * {@link ScanDriver#scan} with {@link Consistency#EVENTUAL} alone: what it shows may be old,
     * and what is new may be missing. Who has {@link #ORDERED_SCAN} can do this too.
     */
    EVENTUAL_SCAN,
    /** Expired items are removed by the store itself, some time later. */
    NATIVE_EXPIRY,
    /** An acknowledged write survives a power cut. */
    DURABLE
  }
}
