package dev.quipu.server.cli.store;

import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.server.cli.access.Environment;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.cli.serve.CountingFlags;
import dev.quipu.shard.Sharded;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Gives a sharded counter the bounds in the record of its store. */
@Command(
    name = "repair",
    description = {
      "Give a sharded counter the bounds in the record of its store.",
      "",
      "For a counter that servers reject because it was created with other bounds.",
      "Its value does not change, and must be within the new bounds. Earlier requests",
      "do not count again: a repeat is a conflict, since its bounds differ."
    },
    footer = {
      "",
      "The options must equal the record, which quipu adopt changes.",
      "",
      "Example:",
      "  quipu repair stock --store redis://db --shards 4 --floor 0"
    })
public final class RepairCommand extends ResultCommand {
  @Mixin private CountingFlags counting = new CountingFlags();

  @Parameters(paramLabel = "KEY", description = "The counter.")
  private String counter = "";

  @Option(
      names = "--store",
      paramLabel = "URI",
      required = true,
      description = "The store, as for serve.")
  private String store = "";

  @Override
  public Integer call() {
    if (OpenedStore.isEngine(store)) {
      throw new IllegalArgumentException(
          "repair supports a store other than the engine; pass bounds with each add");
    }
    counting.check();
    try (OpenedStore opened = OpenedStore.of(store)) {
      Store read = new Store(opened.driver(), Environment.of(command).clock());
      try (RecordGuard guard = counting.guard(read)) {
        CountingFlags.require(guard.compare()); // check() would write a record to an empty store
        if (read.get(StoreRecord.KEY).isEmpty()) {
          output.failed("no such counter: " + counter);
          return ExitCode.FAILED;
        }
        guard.start();
        Store written = new Store(guard.over(opened.driver()), Environment.of(command).clock());
        Sharded sharded =
            counting
                .counters(written)
                .as(Sharded.class)
                .orElseThrow(() ->
                    new IllegalArgumentException("--shards, --floor or --ceiling is missing"));
        boolean isChanged = sharded.repair(counter);
        if (!isChanged && sharded.read(counter).isEmpty()) {
          output.failed("no such counter: " + counter);
          return ExitCode.FAILED;
        }
        output.print(
            counter + (isChanged ? " has the bounds of the record now" : " needs no repair"),
            Output.members("name", counter, "repaired", isChanged));
      }
    }
    return ExitCode.OK;
  }
}
