package dev.quipu.server.cli.access;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that reads views of a server, of a data directory, or of a store. */
public abstract class StoredViewsCommand extends AccessCommand {
  @Option(
      names = "--store",
      paramLabel = "URI",
      description = "Read this store, as in serve; its servers may run.")
  protected @Nullable String store;
}
