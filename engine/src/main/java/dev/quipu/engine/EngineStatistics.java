package dev.quipu.engine;

import dev.quipu.engine.commit.Checkpointer;
import dev.quipu.engine.commit.Committer;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.state.AddCounts;
import dev.quipu.engine.state.StateSizes;

/**
 * Statistics of an engine's content and work.
 *
 * @param counters existing counters
 * @param tombstones removed counters whose request ids are still remembered
 * @param items items of the engine as a store
 * @param memoryBytes estimated heap of counters, tombstones, texts and items
 * @param memoryBytesMax its limit
 * @param requestIds remembered request ids
 * @param requestIdsInMemory of these, in memory
 * @param requestIdsInMemoryMax above it, they are sealed to disk
 * @param idFiles files that hold the older request ids
 * @param openHolds holds that have not ended
 * @param expiredHolds holds that expired since the engine was opened
 * @param transactions transactions that were applied since the engine was opened
 * @param frames groups written since the engine was opened
 * @param logBytes log bytes written since the engine was opened
 * @param replayBytes log bytes that the next start would read
 * @param segments log segments in use
 * @param segmentBytes size of a segment
 * @param adds results of adds since the engine was opened
 */
public record EngineStatistics(
    long counters,
    long tombstones,
    long items,
    long memoryBytes,
    long memoryBytesMax,
    long requestIds,
    long requestIdsInMemory,
    long requestIdsInMemoryMax,
    int idFiles,
    int openHolds,
    long expiredHolds,
    long transactions,
    long frames,
    long logBytes,
    long replayBytes,
    int segments,
    long segmentBytes,
    Adds adds) {
  /** Counts of adds by result. */
  public record Adds(
      long applied,
      long replayed,
      long conflicts,
      long belowFloor,
      long aboveCeiling,
      long overflows,
      long canceled) {
    private static Adds of(AddCounts.Sums sums) {
      return new Adds(
          sums.applied(),
          sums.replayed(),
          sums.conflicts(),
          sums.belowFloor(),
          sums.aboveCeiling(),
          sums.overflows(),
          sums.canceled());
    }
  }

  static EngineStatistics of(
      StateSizes sizes,
      long counters,
      Settings settings,
      Committer committer,
      Checkpointer checkpointer,
      Log log) {
    return new EngineStatistics(
        counters,
        sizes.named() - counters,
        sizes.items(),
        sizes.memoryBytes(),
        settings.memoryBytesMax(),
        sizes.ids(),
        sizes.idsInMemory(),
        settings.idsInMemoryMax(),
        sizes.idFiles(),
        sizes.openHolds(),
        sizes.expiredHolds(),
        sizes.transactions(),
        committer.frames(),
        committer.bytes(),
        checkpointer.logBytes(),
        log.segments(),
        log.segmentBytes(),
        Adds.of(sizes.adds()));
  }
}
