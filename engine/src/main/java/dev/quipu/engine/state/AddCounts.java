package dev.quipu.engine.state;

import dev.quipu.AddResult;

/** The results of adds since the engine was opened. Not thread-safe. */
public final class AddCounts {
  private long applied;
  private long replayed;
  private long conflicts;
  private long belowFloor;
  private long aboveCeiling;
  private long overflows;
  private long canceled;

  AddCounts() {}

  /** Counts an add that was applied; returns true. */
  public boolean applied() {
    applied++;
    return true;
  }

  /** Counts and returns a result. */
  public AddResult counted(AddResult result) {
    switch (result) {
      case AddResult.Applied counted -> applied++;
      case AddResult.Replayed again -> replayed++;
      case AddResult.Conflict conflict -> conflicts++;
      case AddResult.Rejected rejected -> {
        switch (rejected.why()) {
          case FLOOR -> belowFloor++;
          case CEILING -> aboveCeiling++;
          case OVERFLOW -> overflows++;
          case CANCELED -> canceled++;
          case HELD_ELSEWHERE -> throw new IllegalStateException("an engine has no regions");
        }
      }
    }
    return result;
  }

  Sums sums() {
    return new Sums(applied, replayed, conflicts, belowFloor, aboveCeiling, overflows, canceled);
  }

  /** The counts at one moment. */
  public record Sums(
      long applied,
      long replayed,
      long conflicts,
      long belowFloor,
      long aboveCeiling,
      long overflows,
      long canceled) {}
}
