package dev.quipu.server.cli.input;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for a time that is divided into steps. */
public final class PeriodFlags {
  @Option(
      names = "--step",
      paramLabel = "STEP",
      description = "minute, hour or day, of a time zone as in day@Europe/Berlin (default hour).")
  private String step = "hour";

  @Option(
      names = {"--from", "--since"},
      paramLabel = "TIME",
      description = "Begin here: a time, a date, or how long ago, such as 7d (default: a day ago).")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "TIME", description = "End here, likewise (default: now).")
  private @Nullable String to;

  /** Returns the step. */
  public String step() {
    return step;
  }

  /** Returns the begin; empty for the default. */
  public Optional<String> from() {
    return Times.checked("--from", from);
  }

  /** Returns the end; empty for now. */
  public Optional<String> to() {
    return Times.checked("--to", to);
  }
}
