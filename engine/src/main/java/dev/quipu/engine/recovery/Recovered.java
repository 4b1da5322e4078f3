package dev.quipu.engine.recovery;

import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The result of reading a data directory.
 *
 * @param state all readable state; its frame is the last one read
 * @param segments log segments, from the oldest needed to the last
 * @param end offset of the next frame in the last segment
 * @param syncedEnd end of the frames in it that are known to be durable; not above {@code end}
 * @param damages damage found; empty unless the read was lenient
 * @param isTailStale whether discarded frames follow the end, so that appending must continue in a
 *     new segment
 * @param validAfterDamage commands in intact frames after a damaged one
 * @param logBytes bytes of log that were read after the snapshot
 * @param notes notes for the operator
 */
public record Recovered(
    State state,
    long identity,
    HighWater.Mark highWater,
    List<Log.Segment> segments,
    int end,
    int syncedEnd,
    boolean isTailStale,
    List<DamageException> damages,
    long validAfterDamage,
    long logBytes,
    List<String> notes) {
  private static final Logger LOGGER = LoggerFactory.getLogger(Recovered.class);

  /**
   * Prepares the directory for writes: marks it as one of this format, and removes what is not part
   * of the state, which are files of forgotten request ids, replaced files of counters, and drafts.
   */
  public void prepare(Disk disk, Path directory) throws IOException {
    if (logBytes > 0 && highWater.frame() > 0 && highWater.end() == 0) {
      LOGGER
          .atInfo()
          .addKeyValue("directory", directory)
          .addKeyValue("logBytes", logBytes)
          .addKeyValue("counters", state.counters.writtenSize())
          .log(
              "Recovered the log, which no stop has ended: after a crash, or in a restored directory");
    }
    FormatFile.upgrade(disk, directory);
    List<Path> used = state.ids.files().stream().map(IdFile::path).toList();
    for (Path file : disk.list(IdFiles.directory(directory))) {
      if (!used.contains(file)) {
        disk.delete(file);
      }
    }
    for (Path file : disk.list(directory)) {
      String name = String.valueOf(file.getFileName());
      boolean isReplaced = Snapshot.isCounterFile(name) && !name.equals(state.counterFile);
      if (isReplaced || name.endsWith(".tmp")) {
        disk.delete(file);
      }
    }
  }
}
