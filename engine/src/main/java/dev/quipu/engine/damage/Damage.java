package dev.quipu.engine.damage;

/** Kinds of damage of a data directory. */
public enum Damage {
  /** A frame of the log does not match its checksum, and valid frames follow it. */
  FLIPPED_FRAME,
  /** The log ends before the last acknowledged frame. */
  LOG_CUT,
  /** A segment of the log is missing. */
  SEGMENT_MISSING,
  /** The header of a segment cannot be read. */
  SEGMENT_HEAD,
  /** The snapshot cannot be read or is missing. */
  SNAPSHOT,
  /** A file of sealed request ids cannot be read or is missing. */
  ID_FILE,
  /** A file of past values cannot be read. */
  HISTORY,
  /** The high-water mark cannot be read or is missing. */
  HIGH_WATER,
  /** The file that names the format cannot be read or is missing. */
  FORMAT,
  /** A file of a backup does not match its manifest, or is missing. */
  BACKUP
}
