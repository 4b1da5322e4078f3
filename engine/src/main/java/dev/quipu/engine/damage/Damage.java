package dev.quipu.engine.damage;

/** What can be wrong with a data directory. */
public enum Damage {
  /** A frame of the log does not match its checksum, and valid frames follow it. */
  FLIPPED_FRAME,
  /** The log ends before what was acknowledged. */
  LOG_CUT,
  /** A segment of the log is not there. */
  SEGMENT_MISSING,
  /** The head of a segment cannot be read. */
  SEGMENT_HEAD,
  /** The snapshot cannot be read, or is not there. */
  SNAPSHOT,
  /** A file of sealed request ids cannot be read, or is not there. */
  ID_FILE,
  /** The high-water mark cannot be read, or is not there. */
  HIGH_WATER,
  /** The file that names the format cannot be read, or is not there. */
  FORMAT
}
