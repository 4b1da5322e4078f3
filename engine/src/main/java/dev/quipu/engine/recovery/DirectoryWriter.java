package dev.quipu.engine.recovery;

import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.state.OpenHold;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/** Writes a complete state to a directory that has no snapshot and no log. */
public record DirectoryWriter(Disk disk, Path directory, long identity) {
  /**
   * Writes a snapshot, the mark, and an empty log that continues it.
   *
   * @param files of the request ids, which are in the directory
   * @param isSalvaged whether they may have ids of counters whose names were lost
   * @param wallMillis the wall time of the last command
   * @param segmentBytes size of the log file
   */
  public void write(
      State state, List<IdFile> files, boolean isSalvaged, long wallMillis, int segmentBytes)
      throws IOException {
    disk.createDirectories(Log.directory(directory));
    snapshot(state, files, isSalvaged);
    HighWater.create(
        disk,
        directory,
        identity,
        new HighWater.Mark(state.frame, state.commands, state.timeMillis, wallMillis));
    Log.open(
            new Environment(disk, Threads.PLATFORM),
            directory,
            identity,
            segmentBytes,
            List.of(),
            0,
            0,
            false,
            state.frame + 1,
            new Failure())
        .close();
    disk.syncDirectory(directory);
  }

  private void snapshot(State state, List<IdFile> files, boolean isSalvaged) throws IOException {
    Snapshot.Start start = new Snapshot.Start(state.frame + 1, state.commands, state.timeMillis);
    try (Snapshot snapshot = Snapshot.start(disk, directory, identity, start)) {
      snapshot.idFiles(files, isSalvaged);
      snapshot.counters(still(state), false);
      for (OpenHold hold : state.holds.all()) {
        snapshot.hold(hold.current());
      }
      for (Item item : state.items.next(null, Integer.MAX_VALUE)) {
        snapshot.item(item);
      }
      snapshot.thresholds(still(state));
      snapshot.end(state.frame);
    }
  }

  /** Returns the source of a state that does not change. */
  static Snapshot.Source still(State state) {
    return new Snapshot.Source() {
      @Override
      public <T> T at(Function<State, T> read) {
        return read.apply(state);
      }
    };
  }
}
