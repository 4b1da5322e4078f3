package dev.quipu.server.cli.access;

import dev.quipu.server.cli.output.ResultCommand;
import picocli.CommandLine.Mixin;

/** A command on the counters of a server or of a data directory. */
public abstract class AccessCommand extends ResultCommand {
  @Mixin protected Target target = new Target();
}
