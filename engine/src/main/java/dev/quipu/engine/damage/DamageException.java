package dev.quipu.engine.damage;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.nio.file.Path;

/**
 * The data directory is damaged, and opening it as it is would lose or double something in silence.
 * {@code Inspection.check} tells more, {@code Inspection.salvage} keeps what is whole.
 */
public final class DamageException extends NotAppliedException {
  private static final long serialVersionUID = 1;
  private static final String REMEDY =
      "'quipu check --data DIR' lists all that is damaged; 'quipu salvage --data DIR' keeps what is"
          + " whole";
  private static final String NO_REMEDY =
      "Restore it from a backup: nothing of the directory can be read without it";

  private final String fault;
  private final Damage damage;
  private final transient Path file;
  private final long offset;

  /** Makes one. */
  public DamageException(Damage damage, Path file, long offset, String detail) {
    super(
        Reason.CORRUPT,
        fault(damage, file, offset, detail)
            + ". "
            + (damage == Damage.FORMAT ? NO_REMEDY : REMEDY));
    this.fault = fault(damage, file, offset, detail);
    this.damage = damage;
    this.file = file;
    this.offset = offset;
  }

  private static String fault(Damage damage, Path file, long offset, String detail) {
    return "%s in %s at byte %d: %s".formatted(damage, file, offset, detail);
  }

  /** The message without the remedy. */
  public String fault() {
    return fault;
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
