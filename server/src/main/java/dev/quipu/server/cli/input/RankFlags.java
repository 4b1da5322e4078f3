package dev.quipu.server.cli.input;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for counters by value, of which at most one can be set. */
public final class RankFlags {
  @Option(
      names = "--top",
      paramLabel = "N",
      description = "Print the N counters with the greatest values, 1 to 1000.")
  private @Nullable Integer top;

  @Option(
      names = "--bottom",
      paramLabel = "N",
      description = "Print the N counters with the least values, 1 to 1000.")
  private @Nullable Integer bottom;

  /** Returns whether counters are to be read by value. */
  public boolean isSet() {
    return top != null || bottom != null;
  }

  /**
   * Reads all counters that start with the prefix, and returns the first ones.
   *
   * @throws IllegalArgumentException if both options are set, a number is out of range, or there
   *     are too many counters
   */
  public List<CounterPage.Entry> read(Counters counters, String prefix) {
    if (top != null && bottom != null) {
      throw new IllegalArgumentException("use --top or --bottom, not both");
    }
    boolean isDescending = top != null;
    int number = top == null ? Objects.requireNonNull(bottom) : top;
    if (number < 1 || number > Limits.PAGE_COUNTERS_MAX) {
      throw new IllegalArgumentException(
          "%s is %d; it must be from 1 to %d"
              .formatted(isDescending ? "--top" : "--bottom", number, Limits.PAGE_COUNTERS_MAX));
    }
    return new Ranking(new Selection(prefix, ""), isDescending)
        .page(counters::list, Optional.empty(), number, () -> true)
        .counters();
  }
}
