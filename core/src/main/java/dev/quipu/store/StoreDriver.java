package dev.quipu.store;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.StoreProfile.Capability;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a backend implements; with batches also {@link BatchDriver}, with scans also {@link
 * ScanDriver}. Blocking and thread-safe; callers bring virtual threads.
 *
 * <p>Only {@code Store} calls it: keys are within limits, batches are within the profile, each key
 * occurs once in a batch, and a call that needs a capability comes only if it was declared.
 *
 * <p>A driver knows nothing of expiry but to keep {@link Item#expiresAt}: it returns expired items
 * as long as they are stored, and judges conditions as if they were alive. It switches its client's
 * own retries off. It tells what it knows: {@link QuipuException} with {@link Outcome#NOT_APPLIED}
 * only when the write certainly had no effect and never will, else {@link Outcome#UNKNOWN}. After
 * an unknown outcome the item is wholly old or wholly new.
 */
public interface StoreDriver extends AutoCloseable {
  /** Returns what this opened driver is able to do. */
  StoreProfile profile();

  /** One item, if stored. */
  Optional<Item> get(Key key, Consistency consistency);

  /** One item, atomic, conditional. {@link WriteResult.Applied#after} is what this write left. */
  WriteResult write(Write write);

  /**
   * Puts tokens into a set of an item, which may be new, in one step, whatever else happens to it:
   * without a reader in between. Repeating it changes nothing.
   *
   * <p>An item on which this is used is changed by this, by {@link #dropTokens} and by an
   * unconditional delete alone. Its version means nothing.
   *
   * @param tokens 1 to {@code Store.TOKENS_MAX}
   */
  default void addTokens(Key key, String field, Set<String> tokens) {
    throw profile().lacks(Capability.NATIVE_TOKENS);
  }

  /** Takes tokens out of a set; see {@link #addTokens}. Those that are not there stay away. */
  default void dropTokens(Key key, String field, Set<String> tokens) {
    throw profile().lacks(Capability.NATIVE_TOKENS);
  }

  /**
   * The store's own atomic operations on named values; empty if it has none, and {@code Store}
   * makes them out of conditional writes.
   */
  default Optional<AtomicOperations> operations() {
    return Optional.empty();
  }

  /**
   * Since when nothing that was stored can have been lost, as far as is known now: asked of the
   * store each time. A durable store never loses anything; of others, unless they can tell, it is
   * not known.
   *
   * @return {@link Instant#MIN} for ever, {@link Instant#MAX} for not known
   */
  default Instant intactSince() {
    return profile().has(Capability.DURABLE) ? Instant.MIN : Instant.MAX;
  }

  /**
   * Removes items that expired before a moment, if the store does not do it by itself.
   *
   * @param itemsMax most items to remove in this call
   * @return how many were removed
   */
  default int removeExpired(Instant before, int itemsMax) {
    return 0;
  }

  /** Returns the time of the store's own clock; empty if it does not show one. */
  default Optional<Instant> time() {
    return Optional.empty();
  }

  /**
   * Asks the store for settings that endanger writes: durability, eviction, schema and rights.
   *
   * @return empty if there is none, or the store has no such settings
   */
  default List<Finding> inspect() {
    return List.of();
  }

  /** Ends the use of what the driver opened itself; never of what was handed to it. */
  @Override
  void close();

  /**
   * A setting of a store that endangers writes.
   *
   * @param effect what it does to them
   * @param setting name and value, such as {@code appendfsync=everysec}; no secrets
   * @param remedy what to set instead
   */
  public record Finding(Effect effect, String setting, String remedy) {
    /** What a setting does to writes. */
    public enum Effect {
      /** Acknowledged writes can be lost without a trace. */
      LOSES_WRITES,
      /** The same, and {@code durability=store} in the URI accepts it. */
      LOSES_WRITES_BY_CHOICE,
      /** Writes are rejected. */
      REJECTS_WRITES
    }

    /**
     * Returns a finding that acknowledged writes can be lost.
     *
     * @param isChosen whether the user accepts that
     */
    public static Finding losesWrites(boolean isChosen, String setting, String remedy) {
      Effect effect = isChosen ? Effect.LOSES_WRITES_BY_CHOICE : Effect.LOSES_WRITES;
      return new Finding(effect, setting, remedy);
    }

    /** Whether acknowledged writes can be lost. */
    public boolean losesWrites() {
      return effect != Effect.REJECTS_WRITES;
    }
  }

  /** How fresh a read must be. */
  enum Consistency {
    /** It sees every write that was acknowledged before it began. */
    STRONG,
    /** It may be stale; cheaper on some stores. */
    EVENTUAL
  }
}
