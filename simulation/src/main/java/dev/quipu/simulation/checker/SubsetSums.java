package dev.quipu.simulation.checker;

import java.util.BitSet;
import java.util.List;

/** Whether a number is the sum of some of these numbers. */
final class SubsetSums {
  /** Widest range of sums that is looked at exactly; a wider one is only bounded. */
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
      return true; // too wide to tell more
    }
    // Bit i stands for the sum low + i; low itself is the sum of all negative numbers.
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
