package dev.quipu.region;

import dev.quipu.Bounds;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of {@link RegionalCounters}; the bounds are the same in all regions.
 *
 * @param bounds of every counter's sum over all regions; they include 0
 * @param cells number of items over which each region divides a counter, 1 to {@link #CELLS_MAX}
 * @param keep retention of request ids; empty for unlimited
 */
public record RegionOptions(Bounds bounds, int cells, Optional<Duration> keep) {
  /** Maximum number of items over which a region divides a counter. */
  public static final int CELLS_MAX = 64;

  /** Greatest distance of a bound from 0: the sum of all rights must fit into 64 bits. */
  public static final long BOUND_MAX = 1L << 60;

  /** One cell, no bounds, unlimited retention of ids. */
  public static final RegionOptions DEFAULT = new RegionOptions(Bounds.none(), 1, Optional.empty());

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the value that is outside its limits
   */
  public RegionOptions {
    if (cells < 1 || cells > CELLS_MAX) {
      throw new IllegalArgumentException(
          "cells is %d; it must be from 1 to %d".formatted(cells, CELLS_MAX));
    }
    boolean low = bounds.floor() != Long.MIN_VALUE && bounds.floor() < -BOUND_MAX;
    boolean high = bounds.ceiling() != Long.MAX_VALUE && bounds.ceiling() > BOUND_MAX;
    if (bounds.floor() > 0 || bounds.ceiling() < 0 || low || high) {
      throw new IllegalArgumentException(
          "bounds are %d to %d; they must include 0, and be at most %d away from it"
              .formatted(bounds.floor(), bounds.ceiling(), BOUND_MAX));
    }
  }

  /** Returns these options with other bounds. */
  public RegionOptions within(Bounds other) {
    return new RegionOptions(other, cells, keep);
  }

  /** Returns these options with another number of cells. */
  public RegionOptions over(int other) {
    return new RegionOptions(bounds, other, keep);
  }

  /** Returns these options with another retention of request ids. */
  public RegionOptions keeping(Duration other) {
    return new RegionOptions(bounds, cells, Optional.of(other));
  }
}
