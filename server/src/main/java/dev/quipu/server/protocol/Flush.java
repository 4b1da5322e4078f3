package dev.quipu.server.protocol;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.engine.CounterAccess;
import java.util.List;

/** The removal of all counters and texts, in parts that each fit into a commit. */
public final class Flush {
  /** Counters removed at once. */
  private static final int PART = 4_096;

  private int parts;
  private boolean isDone;

  /** Returns the most bytes of log that a part writes. */
  public static int bytesMax() {
    return CounterAccess.bytesMax(PART, 0);
  }

  /**
   * Removes a part.
   *
   * @throws QuipuException if it cannot; after the first part that is not known to have had no
   *     effect
   */
  public void part(CounterAccess turn) {
    isDone = true; // also if it throws
    List<String> names = turn.names("", "", PART);
    try {
      names.forEach(turn::remove);
    } catch (QuipuException e) {
      throw parts == 0
          ? e
          : new OutcomeUnknownException(
              e.reason(), "some counters were removed: " + e.getMessage(), e);
    }
    parts++;
    isDone = names.size() < PART;
  }

  /** Whether nothing is left, or a part has failed. */
  public boolean isDone() {
    return isDone;
  }
}
