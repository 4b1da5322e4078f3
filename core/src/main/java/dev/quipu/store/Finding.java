package dev.quipu.store;

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
