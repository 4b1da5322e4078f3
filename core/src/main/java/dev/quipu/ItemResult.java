package dev.quipu;

/**
 * What became of one add of a batch: its result, or what {@link Counters#add} would have thrown.
 */
public sealed interface ItemResult permits AddResult, ItemResult.Failed {
  /**
   * Returns the result.
   *
   * @throws RuntimeException if there is none
   */
  AddResult orThrow();

  /**
   * The add has no result.
   *
   * @param cause a {@link dev.quipu.QuipuException}, which states the outcome; for an add that
   *     these counters cannot do, an {@link IllegalArgumentException} or {@link
   *     UnsupportedOperationException}: it was not applied. After any other, the outcome is unknown
   */
  record Failed(RuntimeException cause) implements ItemResult {
    @Override
    public AddResult orThrow() {
      throw cause;
    }
  }
}
