package dev.quipu.engine.damage;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import java.nio.file.Path;

/**
 * Thrown when a data directory is damaged, so that opening it would silently lose or duplicate
 * counts. {@code Inspection.check} reports the details; {@code Inspection.salvage} keeps what is
 * intact.
 */
public final class DamageException extends NotAppliedException {
  private static final long serialVersionUID = 1;
  private static final String REMEDY =
      "Run 'quipu check --data DIR' to list all damage; then restore a backup, or run 'quipu salvage"
          + " --data DIR' to keep what is before the damage";
  private static final String NO_REMEDY =
      "Restore the file from a backup: nothing in the directory can be read without it";

  private static final String OTHER_BACKUP =
      "Run 'quipu check --data DIR' to list all damage, and use another backup";

  private final String fault;
  private final Damage damage;
  private final transient Path file;
  private final long offset;

  /** Creates an exception. */
  public DamageException(Damage damage, Path file, long offset, String detail) {
    super(Reason.CORRUPT, fault(damage, file, offset, detail) + ". " + remedy(damage));
    this.fault = fault(damage, file, offset, detail);
    this.damage = damage;
    this.file = file;
    this.offset = offset;
  }

  private static String remedy(Damage damage) {
    return switch (damage) {
      case FORMAT -> NO_REMEDY;
      case BACKUP -> OTHER_BACKUP;
      default -> REMEDY;
    };
  }

  private static String fault(Damage damage, Path file, long offset, String detail) {
    return "%s in %s at byte %d: %s".formatted(damage, file, offset, detail);
  }

  /** Returns the message without the remedy. */
  public String fault() {
    return fault;
  }

  /** Returns the kind of damage. */
  public Damage damage() {
    return damage;
  }

  /** Returns the damaged file. */
  public Path file() {
    return file;
  }

  /** Returns the offset of the first unusable byte. */
  public long offset() {
    return offset;
  }
}
