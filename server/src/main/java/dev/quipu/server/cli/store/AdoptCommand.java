package dev.quipu.server.cli.store;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.server.cli.access.Environment;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.cli.serve.CountingFlags;
import dev.quipu.server.cli.serve.RegionFlags;
import dev.quipu.server.cli.serve.Topology;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Writes the record of a store. */
@Command(
    name = "adopt",
    description = {
      "Write the record of a store: the options that apply to its counters.",
      "",
      "A server whose options differ from the record, or that cannot read it, does",
      "not write."
    },
    footer = {
      "",
      "On an empty store, the first server writes the record. Use this command for a",
      "store with counters but without a record, or with a wrong one. Stop its",
      "servers first, and use the options that they counted with: no counter is",
      "converted. Replacing a record takes 30 s: it waits until all leases and all",
      "writes in flight have ended. With several regions, the database replicates",
      "the record.",
      "",
      "Examples:",
      "  quipu adopt postgresql://db/app --technique marker-item --window 48h",
      "  quipu adopt --region eu --topology regions.json"
    })
public final class AdoptCommand extends ResultCommand {
  @Mixin private CountingFlags counting = new CountingFlags();

  @Mixin private RegionFlags regions = new RegionFlags();

  @Parameters(
      paramLabel = "STORE-URI",
      arity = "0..1",
      description = "The store, as for serve; none with --topology.")
  private @Nullable String uri;

  @Override
  public Integer call() {
    Optional<RegionFlags.InRegion> region = regions.of(counting);
    String named = uri;
    if (region.isPresent() == (named != null)) {
      throw new IllegalArgumentException("use either STORE-URI, or --region and --topology");
    }
    if (named == null) {
      Topology.Opened opened = region.orElseThrow().open();
      try {
        return adopt(opened.own(), opened.record(), opened.name());
      } finally {
        opened.close();
      }
    }
    if (OpenedStore.isEngine(named) || named.equals("memory:")) {
      throw new IllegalArgumentException(
          named
              + " needs no record: a data directory has its own, and memory: does not outlive its"
              + " server");
    }
    counting.check();
    try (OpenedStore opened = OpenedStore.of("STORE-URI", named)) {
      Store store = new Store(opened.driver(), Environment.of(command).clock());
      counting.requireWorksOn(store); // a record that no server can use would be useless
      return adopt(store, counting.record(store.profile()), opened.name());
    }
  }

  private int adopt(Store store, StoreRecord record, String name) {
    Optional<String> before;
    try {
      before = RecordGuard.adopt(store, record);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(Reason.UNAVAILABLE, "interrupted; run it again");
    }
    String change =
        before
            .map(old -> old.equals(record.toString()) ? "; unchanged" : "; previous: " + old)
            .orElse("");
    output.print(
        "record of %s: %s%s".formatted(name, record, change),
        Output.members("store", name, "record", record.toString()));
    return ExitCode.OK;
  }
}
