package dev.quipu.server.cli.input;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for an order by change. */
public final class SinceFlags {
  @Option(
      names = "--since",
      paramLabel = "TIME",
      description =
          "With --top, print those that increased most since this time, or how long ago, such as"
              + " 2h, or the start of the step in which it is.")
  private @Nullable String since;

  @Option(
      names = "--step",
      paramLabel = "STEP",
      description =
          "With --since: minute, hour or day, of a time zone as in day@Europe/Berlin (default"
              + " hour).")
  private @Nullable String step;

  /** Returns since when to order by change; empty for an order by value. */
  public Optional<String> since() {
    if (step != null && since == null) {
      throw new IllegalArgumentException("--step requires --since");
    }
    return Times.checked("--since", since);
  }

  /** Returns the step in which the time is. */
  public String step() {
    return step == null ? "hour" : step;
  }
}
