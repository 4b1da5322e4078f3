package dev.quipu;

/**
 * One reason why a {@link Reading} is not certain.
 *
 * @param cause what kind of reason
 * @param where the region, or the two regions, that it is about
 * @param amount by how much it may change the value; {@link Long#MAX_VALUE} if nothing limits it
 */
public record Uncertainty(Cause cause, String where, long amount) {
  /** Kinds of reasons. */
  public enum Cause {
    /** A region did not answer: what it counted since it was last heard is missing. */
    SILENT_REGION("silent"),
    /**
     * A region was retired: what it counted and never sent is not in the sum, until an operator
     * states that nothing is missing.
     */
    RETIRED_REGION("retired"),
    /** A region's replica was restored from a backup: what it counted since may be missing. */
    RESTORED_REGION("restored"),
    /** The sum has more than 64 bits: this is the nearest number. */
    OVERFLOW("overflow"),
    /** Rights were given, and who got them may have used them unseen. */
    OPEN_TRANSFER("open-transfer"),
    /** Adds came while the counter was read. */
    MOVING("moving");

    private final String word;

    Cause(String word) {
      this.word = word;
    }

    /** One word for it. */
    public String word() {
      return word;
    }
  }
}
