package dev.quipu.store;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.StoreProfile.Capability;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The interface that a backend implements; with batches also {@link BatchDriver}, with scans also
 * {@link ScanDriver}. Blocking and thread-safe; callers use virtual threads.
 *
 * <p>Only {@code Store} calls it: keys are within limits, batches are within the profile, each key
 * occurs once in a batch, and a call that needs a capability is made only if that was declared.
 *
 * <p>A driver does not implement expiry. It only keeps {@link Item#expiresAt}: it returns expired
 * items as long as they are stored, and evaluates conditions as if they were not expired. It
 * disables the retries of its client. It reports outcomes exactly: {@link QuipuException} with
 * {@link Outcome#NOT_APPLIED} only if the write certainly had no effect and never will, else {@link
 * Outcome#UNKNOWN}. After an unknown outcome the item is in its old or its new state, never a mix.
 */
public interface StoreDriver extends AutoCloseable {
  /** Returns the capabilities and limits of this opened driver. */
  StoreProfile profile();

  /** Returns an item; empty if it is not stored. */
  Optional<Item> get(Key key, Consistency consistency);

  /**
   * Applies a conditional write to one item, atomically. {@link WriteResult.Applied#after} is the
   * state that this write left.
   */
  WriteResult write(Write write);

  /**
   * Adds tokens to a set of an item, which is created if missing, in one step under any
   * concurrency: without reading first. Idempotent.
   *
   * <p>An item on which this is used is changed only by this, by {@link #dropTokens} and by an
   * unconditional delete. Its version is meaningless.
   *
   * @param tokens 1 to {@code Store.TOKENS_MAX}
   */
  default void addTokens(Key key, String field, Set<String> tokens) {
    throw profile().lacks(Capability.NATIVE_TOKENS);
  }

  /** Removes tokens from a set; see {@link #addTokens}. Tokens that are missing are ignored. */
  default void dropTokens(Key key, String field, Set<String> tokens) {
    throw profile().lacks(Capability.NATIVE_TOKENS);
  }

  /**
   * Returns the store's native atomic operations on named values; empty if it has none, in which
   * case {@code Store} implements them by conditional writes.
   */
  default Optional<AtomicOperations> operations() {
    return Optional.empty();
  }

  /**
   * Returns the moment since when no stored data can have been lost, as far as is known now;
   * queries the store each time. A durable store never loses data; for others the moment is unknown
   * unless they report it.
   *
   * @return {@link Instant#MIN} for always, {@link Instant#MAX} for unknown
   */
  default Instant intactSince() {
    return profile().has(Capability.DURABLE) ? Instant.MIN : Instant.MAX;
  }

  /**
   * Removes items that expired before a moment, if the store does not do so itself.
   *
   * @param itemsMax maximum number of items to remove in this call
   * @return the number of items removed
   */
  default int removeExpired(Instant before, int itemsMax) {
    return 0;
  }

  /** Returns the time of the store's clock; empty if the store does not expose it. */
  default Optional<Instant> time() {
    return Optional.empty();
  }

  /**
   * Queries the store for settings that endanger writes: durability, eviction, schema and
   * permissions.
   *
   * @return empty if there are none, or the store has no such settings
   */
  default List<Finding> inspect() {
    return List.of();
  }

  /**
   * Returns measurements of the driver's own work at this moment, without calling the store; what
   * it does not measure is missing, always.
   */
  default Map<Measure, Long> measures() {
    return Map.of();
  }

  /** A measurement of a driver. */
  enum Measure {
    /** Connections that a call uses. */
    CONNECTIONS_IN_USE,
    /** Open connections that no call uses. */
    CONNECTIONS_IDLE,
    /** Maximum number of connections. */
    CONNECTIONS_MAX,
    /** Calls that wait for a connection. */
    CALLS_WAITING,
    /** Adds that were written in a group, which may be of one, since the driver was opened. */
    FOLDED_ADDS,
    /** Writes of such groups since the driver was opened. */
    FOLDED_WRITES
  }

  /** Closes the resources that the driver opened itself, never those passed to it. */
  @Override
  void close();

  /**
   * A setting of a store that endangers writes.
   *
   * @param effect its effect on writes
   * @param survives what acknowledged writes survive with it
   * @param setting name and value, such as {@code appendfsync=no}; no secrets
   * @param remedy the setting to use instead
   */
  public record Finding(Effect effect, Survival survives, String setting, String remedy) {
    /** The effect of a setting on writes. */
    public enum Effect {
      /** Acknowledged writes can be lost silently. */
      LOSES_WRITES,
      /** Acknowledged writes can be lost silently, and {@code durability} in the URI accepts it. */
      LOSES_WRITES_BY_CHOICE,
      /** Writes are rejected. */
      REJECTS_WRITES
    }

    /**
     * Returns a finding that acknowledged writes can be lost.
     *
     * @param accepted the least that the user accepts that writes survive
     * @param survives what they survive with the setting
     */
    public static Finding losesWrites(
        Survival accepted, Survival survives, String setting, String remedy) {
      boolean isChosen = survives.compareTo(accepted) >= 0;
      Effect effect = isChosen ? Effect.LOSES_WRITES_BY_CHOICE : Effect.LOSES_WRITES;
      return new Finding(effect, survives, setting, remedy);
    }

    /** Returns a finding that writes are rejected. */
    public static Finding rejectsWrites(String setting, String remedy) {
      return new Finding(Effect.REJECTS_WRITES, Survival.FSYNC, setting, remedy);
    }

    /** Returns whether acknowledged writes can be lost. */
    public boolean losesWrites() {
      return effect != Effect.REJECTS_WRITES;
    }
  }

  /** The required consistency of a read. */
  enum Consistency {
    /** Sees every write that was acknowledged before the read began. */
    STRONG,
    /** May be stale; cheaper on some stores. */
    EVENTUAL
  }
}
