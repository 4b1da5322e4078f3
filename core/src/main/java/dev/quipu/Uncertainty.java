package dev.quipu;

/**
 * A reason why a {@link Reading} is not exact.
 *
 * @param cause the kind of reason
 * @param where the region or the two regions concerned; may be empty
 * @param amount the largest error of the value; {@link Long#MAX_VALUE} if it is unlimited
 */
public record Uncertainty(Cause cause, String where, long amount) {
  /** The kinds of reasons. */
  public enum Cause {
    /** A region did not respond: what it counted since its last answer is missing. */
    SILENT_REGION("silent"),
    /**
     * A region was retired: what it counted and did not replicate is missing, until an operator
     * declares that nothing is.
     */
    RETIRED_REGION("retired"),
    /** A region's replica was restored from a backup: what it counted since may be missing. */
    RESTORED_REGION("restored"),
    /** The sum exceeds 64 bits: the value is the nearest number. */
    OVERFLOW("overflow"),
    /** Rights were transferred, and the receiver may have used them since. */
    OPEN_TRANSFER("open-transfer"),
    /** Adds were applied during the read. */
    MOVING("moving");

    private final String word;

    Cause(String word) {
      this.word = word;
    }

    /** Returns the name of the cause in JSON. */
    public String word() {
      return word;
    }
  }
}
