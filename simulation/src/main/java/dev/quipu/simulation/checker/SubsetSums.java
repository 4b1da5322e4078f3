package dev.quipu.simulation.checker;

import java.util.BitSet;
import java.util.List;

/** Decides whether a number is the sum of a subset of given numbers. */
final class SubsetSums {
  /** Widest range of sums that is checked exactly; a wider one is only bounded. */
  static final long RANGE_MAX = 1L << 24;

  private SubsetSums() {}

  static boolean contains(List<Long> numbers, long sum) {
    long low = 0;
    long high = 0;
    for (long number : numbers) {
      low += Math.min(0, number);
      high += Math.max(0, number);
    }
    if (sum < low || sum > high) {
      return false;
    }
    if (high - low > RANGE_MAX) {
      return true; // too wide for an exact check
    }
    // Bit i represents the sum low + i; low itself is the sum of all negative numbers.
    BitSet sums = new BitSet((int) (high - low) + 1);
    sums.set(0);
    for (long number : numbers) {
      int shift = (int) Math.abs(number);
      BitSet shifted = new BitSet((int) (high - low) + 1);
      sums.stream().forEach(bit -> shifted.set(bit + shift));
      sums.or(shifted);
    }
    return sums.get((int) (sum - low));
  }
}
