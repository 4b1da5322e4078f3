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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options for counters by value or by change. */
public final class RankFlags {
  @Option(
      names = "--top",
      paramLabel = "N",
      description = "Print the N counters with the greatest values, 1 to 1000.")
  private @Nullable Integer top;

  @Option(
      names = "--bottom",
      paramLabel = "N",
      description =
          "Print the N counters with the least values, 1 to 1000; with --since, those that decreased"
              + " most.")
  private @Nullable Integer bottom;

  @Mixin private SinceFlags changes = new SinceFlags();

  /** Returns whether counters are to be read by value or by change. */
  public boolean isSet() {
    if (changes.since().isPresent() && top == null && bottom == null) {
      throw new IllegalArgumentException("--since requires --top or --bottom");
    }
    return top != null || bottom != null;
  }

  /** Returns the options for an order by change. */
  public SinceFlags changes() {
    return changes;
  }

  /** Returns whether the greatest come first. */
  public boolean isTop() {
    return top != null;
  }

  /**
   * Reads all counters that start with the prefix, and returns the first ones.
   *
   * @throws IllegalArgumentException as for {@link #number}, or if there are too many counters
   */
  public List<CounterPage.Entry> read(Counters counters, String prefix) {
    return new Ranking(new Selection(prefix, ""), isTop())
        .page(counters::list, Optional.empty(), number(), () -> true)
        .counters();
  }

  /**
   * Returns how many counters are to be read.
   *
   * @throws IllegalArgumentException if both options are set, or the number is out of range
   */
  public int number() {
    if (top != null && bottom != null) {
      throw new IllegalArgumentException("use --top or --bottom, not both");
    }
    int number = top == null ? Objects.requireNonNull(bottom) : top;
    if (number < 1 || number > Limits.PAGE_COUNTERS_MAX) {
      throw new IllegalArgumentException(
          "%s is %d; it must be from 1 to %d"
              .formatted(top == null ? "--bottom" : "--top", number, Limits.PAGE_COUNTERS_MAX));
    }
    return number;
  }
}
