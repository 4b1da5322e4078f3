package dev.quipu.engine.commit;

import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Ticker;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.IdIndex;
import dev.quipu.engine.ids.IdMerge;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges files of request ids, slowly and on its own thread, while the committer works. Before
 * that, it builds the index of those found at the start.
 *
 * <pre>{@code
 * MERGE:
 *
 *   1. The committer chooses files.
 *   2. Write their ids to a new file; sync, rename. A start removes it: no snapshot lists it.
 *   3. The committer looks ids up in the new file instead of the old ones. From here on snapshots
 *      list it.
 *   4. When a snapshot that does not list them is durable, the Checkpointer removes the old files.
 *   If it is interrupted at any point, the files that the snapshot lists are complete.
 * }</pre>
 */
final class IdMerger implements Closeable {
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofMillis(8); // after each MiB: at most 125 MiB/s
  private static final int FREE_SHARE = 2;
  private static final Logger LOGGER = LoggerFactory.getLogger(IdMerger.class);

  private final Disk disk;
  private final Path directory;
  private final Committer committer;
  private final Failure failure;
  private final IdMerge merge;
  private final Set<IdFile> damaged = new HashSet<>(); // only its thread
  private boolean failing;
  private boolean isIndexed;
  private final Ticker ticker;

  IdMerger(
      Environment environment,
      Path directory,
      long identity,
      Committer committer,
      Failure failure) {
    this.disk = environment.disk();
    this.directory = directory;
    this.committer = committer;
    this.failure = failure;
    this.merge = new IdMerge(disk, directory, identity);
    this.ticker = new Ticker(environment, failure, "quipu-id-merger", TICK, this::tick);
  }

  private void tick(Ticker ticker) {
    try {
      if (!isIndexed) {
        index(ticker);
        isIndexed = true; // there are no others later
      }
      List<IdFile> files = choose();
      while (!files.isEmpty() && hasRoom(files) && ticker.pause(PAUSE)) {
        merge(files, ticker);
        failing = false;
        files = choose();
      }
    } catch (IOException e) {
      if (!failing && !failure.hasEnded()) {
        LOGGER
            .atWarn()
            .addKeyValue("directory", directory)
            .setCause(e)
            .log("Merging request ids failed; retrying every second");
      }
      failing = true;
    }
  }

  private void index(Ticker ticker) {
    List<IdFile> files = committer.get((state, group) -> state.ids.unindexed());
    if (files.isEmpty()) {
      return;
    }
    IdIndex index;
    try {
      index = merge.index(files, () -> ticker.pause(PAUSE));
    } catch (DamageException e) { // a lookup reports it if it needs the page
      LOGGER
          .atWarn()
          .addKeyValue("directory", directory)
          .setCause(e)
          .log("Indexing request ids failed; they are looked up in their files");
      return;
    }
    if (index != null) {
      boolean unused = committer.get((state, group) -> state.ids.indexed(files, index));
    }
  }

  private List<IdFile> choose() {
    return committer.get((state, group) -> state.ids.mergeable(damaged));
  }

  /** Returns whether enough space is left for what cannot wait, such as a snapshot. */
  private boolean hasRoom(List<IdFile> files) throws IOException {
    long bytes = 0;
    for (IdFile file : files) {
      bytes += disk.size(file.path());
    }
    return disk.usableBytes(IdFiles.directory(directory)) / FREE_SHARE >= bytes;
  }

  private void merge(List<IdFile> files, Ticker ticker) throws IOException {
    @Nullable IdFile merged;
    try {
      merged = merge.merge(files, () -> ticker.pause(PAUSE));
    } catch (DamageException e) { // a lookup reports it if it needs the page
      damaged.addAll(files);
      throw new IOException(e);
    }
    if (merged == null) {
      return; // closed
    }
    if (!committer.get((state, group) -> state.ids.merged(files, merged))) {
      disk.delete(merged.path()); // they were forgotten in the meantime
    }
  }

  @Override
  public void close() {
    ticker.close();
  }
}
