package dev.quipu.engine.recovery;

import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.util.List;

/**
 * What a start found in a data directory.
 *
 * @param state all that could be read; its frame is the last one read
 * @param segments of the log, from the oldest needed to the last
 * @param end where in the last of them the next frame belongs
 * @param syncedEnd where in it the frames end that are known to be durable; not above {@code end}
 * @param damages what is wrong; empty unless asked to be lenient
 * @param isTailStale whether frames that were given up lie behind the end: it must not be written
 *     there, but in a new segment
 * @param validBehindDamage commands in frames that are whole but lie behind a damaged one
 * @param notes what an operator may want to know
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
    long validBehindDamage,
    List<String> notes) {

  /** Returns how many bytes of log a start reads. */
  public long logBytes(Disk disk) throws IOException {
    long bytes = segments.isEmpty() ? 0 : end;
    for (int i = 0; i < segments.size() - 1; i++) {
      bytes += disk.size(segments.get(i).path());
    }
    return bytes;
  }
}
