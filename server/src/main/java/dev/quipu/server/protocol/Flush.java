package dev.quipu.server.protocol;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.engine.CounterAccess;
import java.util.List;

/** Removes all counters and texts, in parts that each fit into a commit. */
public final class Flush {
  /** Number of counters removed by one part. */
  private static final int PART = 4_096;

  private int parts;
  private boolean isDone;

  /** Returns the maximum log bytes of a part. */
  public static int bytesMax() {
    return CounterAccess.bytesMax(PART, 0);
  }

  /**
   * Removes a part.
   *
   * @throws QuipuException if the removal failed; after the first part the outcome is unknown
   */
  public void part(CounterAccess counters) {
    isDone = true; // also if it throws
    List<String> names = counters.names("", "", PART);
    try {
      names.forEach(counters::remove);
    } catch (QuipuException e) {
      throw parts == 0
          ? e
          : new OutcomeUnknownException(
              e.reason(), "some counters were removed: " + e.getMessage(), e);
    }
    parts++;
    isDone = names.size() < PART;
  }

  /** Returns whether nothing is left or a part has failed. */
  public boolean isDone() {
    return isDone;
  }
}
