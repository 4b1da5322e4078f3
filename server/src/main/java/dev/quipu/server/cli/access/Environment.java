package dev.quipu.server.cli.access;

import dev.quipu.Quipu;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;

/** What all commands have of the command at the root. */
public interface Environment {
  /** Returns the one of a command. */
  static Environment of(CommandSpec command) {
    return (Environment) command.root().userObject();
  }

  /** Opens a data directory. */
  Quipu open(Path directory);

  /** The clock to wait by. */
  Clock clock();

  /** When the process began, by the monotonic clock. */
  long startedNanos();
}
