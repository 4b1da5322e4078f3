package dev.quipu.region;

import dev.quipu.Bounds;
import java.time.Duration;
import java.util.Optional;

/**
 * How {@link RegionalCounters} count; the same bounds in all regions.
 *
 * @param bounds of every counter's sum over all regions; 0 lies within
 * @param cells how many items each region divides a counter over, 1 to {@link #CELLS_MAX}
 * @param keep how long request ids are remembered; empty for ever
 */
public record RegionOptions(Bounds bounds, int cells, Optional<Duration> keep) {
  /** Most items that a region divides a counter over. */
  public static final int CELLS_MAX = 64;

  /** Farthest bound from 0: the sum of all rights must have 64 bits. */
  public static final long BOUND_MAX = 1L << 60;

  /** One cell, no bounds, ids kept for ever. */
  public static final RegionOptions DEFAULT = new RegionOptions(Bounds.none(), 1, Optional.empty());

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the one that is broken
   */
  public RegionOptions {
    if (cells < 1 || cells > CELLS_MAX) {
      throw new IllegalArgumentException(
          "cells is %d, the limits are 1 and %d".formatted(cells, CELLS_MAX));
    }
    boolean low = bounds.floor() != Long.MIN_VALUE && bounds.floor() < -BOUND_MAX;
    boolean high = bounds.ceiling() != Long.MAX_VALUE && bounds.ceiling() > BOUND_MAX;
    if (bounds.floor() > 0 || bounds.ceiling() < 0 || low || high) {
      throw new IllegalArgumentException(
          "bounds are %d to %d; 0 must lie within, and each at most %d from it"
              .formatted(bounds.floor(), bounds.ceiling(), BOUND_MAX));
    }
  }

  /** The same with bounds. */
  public RegionOptions within(Bounds other) {
    return new RegionOptions(other, cells, keep);
  }

  /** The same over so many items a region. */
  public RegionOptions over(int other) {
    return new RegionOptions(bounds, other, keep);
  }

  /** The same with request ids kept for so long. */
  public RegionOptions keeping(Duration other) {
    return new RegionOptions(bounds, cells, Optional.of(other));
  }
}
