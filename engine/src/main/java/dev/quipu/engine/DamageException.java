package dev.quipu.engine;

import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.nio.file.Path;

/**
 * The data directory is damaged, and opening it as it is would lose or double something in silence.
 * {@link Inspection#check} tells more, {@link Inspection#salvage} keeps what is whole.
 */
public final class DamageException extends StoreException {
  private static final long serialVersionUID = 1;
  private static final String REMEDY =
      "'quipu check' lists all that is damaged; 'quipu salvage' keeps what is whole";

  private final Damage damage;
  private final transient Path file;
  private final long offset;

  /** Makes one. */
  DamageException(Damage damage, Path file, long offset, String detail) {
    super(
        Outcome.NOT_APPLIED,
        Reason.CORRUPT,
        "%s in %s at byte %d: %s. %s".formatted(damage, file, offset, detail, REMEDY),
        null);
    this.damage = damage;
    this.file = file;
    this.offset = offset;
  }

  /** What is wrong. */
  public Damage damage() {
    return damage;
  }

  /** Where. */
  public Path file() {
    return file;
  }

  /** The first byte that cannot be used. */
  public long offset() {
    return offset;
  }
}
