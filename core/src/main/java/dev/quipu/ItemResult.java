package dev.quipu;

/** The result of one add of a batch, or the exception that {@link Counters#add} would throw. */
public sealed interface ItemResult permits AddResult, ItemResult.Failed {
  /**
   * Returns the result of the add.
   *
   * @throws RuntimeException if the add has none
   */
  AddResult result();

  /**
   * The add has no result.
   *
   * @param cause a {@link QuipuException}, which states the outcome; for an add that these counters
   *     do not support, an {@link IllegalArgumentException} or {@link
   *     UnsupportedOperationException}: it was not applied. After any other, the outcome is unknown
   */
  record Failed(RuntimeException cause) implements ItemResult {
    @Override
    public AddResult result() {
      throw cause;
    }
  }
}
