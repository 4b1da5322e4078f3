package dev.quipu.server.net;

import dev.quipu.engine.CounterTurn;
import java.util.List;

/** Removes all counters and texts, in parts that each fit into a commit. */
public final class Flush {
  /** Counters removed at once. */
  private static final int PART = 4_096;

  private Flush() {}

  /** Most bytes of log that a part writes. */
  public static int bytesMax() {
    return CounterTurn.bytesMax(PART, 0);
  }

  /** Removes a part; whether nothing is left. */
  public static boolean part(CounterTurn turn) {
    List<String> names = turn.names("", PART);
    names.forEach(turn::remove);
    return names.size() < PART;
  }
}
