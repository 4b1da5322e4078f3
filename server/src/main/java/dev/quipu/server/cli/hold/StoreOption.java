package dev.quipu.server.cli.hold;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.access.Target;
import dev.quipu.server.cli.input.DurationConverter;
import dev.quipu.server.cli.serve.CountingFlags;
import dev.quipu.store.Item;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The option for a store that the command uses itself, beside the servers of the store. */
final class StoreOption {
  @Option(
      names = "--store",
      paramLabel = "URI",
      description = "Use this store, as in serve, in the way of its record; its servers may run.")
  private @Nullable String store;

  /** Opens the store, or the target if no store is given. */
  Access open(Target target, boolean isRead) {
    String uri = store;
    if (uri == null) {
      return isRead ? target.openToRead() : target.open();
    }
    target.requireAlone(uri);
    OpenedStore opened = OpenedStore.of(uri);
    Access access = null;
    try {
      access = open(target, opened);
      return access;
    } finally {
      if (access == null) {
        opened.close();
      }
    }
  }

  private static Access open(Target target, OpenedStore opened) {
    Store read = opened.store();
    Optional<Item> record = read.get(StoreRecord.KEY);
    CountingFlags counting = new CountingFlags();
    new CommandLine(counting)
        .registerConverter(Duration.class, new DurationConverter())
        .parseArgs(record.map(StoreRecord::arguments).orElseGet(List::of).toArray(String[]::new));
    RecordGuard guard = counting.guard(read);
    CountingFlags.require(guard.check());
    Quipu quipu = Backends.on(guard.over(opened.driver()), counting::counters);
    guard.start(); // last: what fails before it leaves no thread
    return target.on(
        quipu,
        () -> {
          guard.close();
          opened.close();
        });
  }
}
