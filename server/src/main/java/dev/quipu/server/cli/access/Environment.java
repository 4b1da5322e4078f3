package dev.quipu.server.cli.access;

import dev.quipu.Quipu;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;

/** The environment of all commands, kept by the root command. */
public interface Environment {
  /** Returns the environment of a command. */
  static Environment of(CommandSpec command) {
    return (Environment) command.root().userObject();
  }

  /** Opens a data directory. */
  Quipu open(Path directory);

  /** Returns the clock. */
  Clock clock();

  /** Returns when the process started, by the monotonic clock. */
  long startedNanos();
}
