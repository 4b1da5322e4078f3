package dev.quipu.store;

/** What a store may be able to do; {@code Store} simulates some of what is missing. */
public enum Capability {
  /** {@link Consistency#STRONG} reads. */
  STRONG_READ,
  /**
   * A lone, unconditional {@link Change.Add} to {@link Item#VALUE}, in one round trip and without a
   * reader in between.
   */
  NATIVE_ADD,
  /** Any {@link Write.Update} under any condition. */
  NATIVE_UPDATE,
  /** {@link StoreDriver#addTokens} and {@link StoreDriver#dropTokens}. */
  NATIVE_TOKENS,
  /** {@link StoreDriver#writeAll} without a token, and {@link StoreDriver#getAll}. */
  ATOMIC_BATCH,
  /** {@link StoreDriver#writeAll} with a token. */
  TOKEN_BATCH,
  /** {@link StoreDriver#scan}. */
  ORDERED_SCAN,
  /**
   * {@link StoreDriver#scan} with {@link Consistency#EVENTUAL} alone: what it shows may be old, and
   * what is new may be missing. Who has {@link #ORDERED_SCAN} can do this too.
   */
  EVENTUAL_SCAN,
  /** Expired items are removed by the store itself, some time later. */
  NATIVE_EXPIRY,
  /** An acknowledged write survives a power cut. */
  DURABLE
}
