package dev.quipu.store;

import dev.quipu.Limits;

/**
 * Where an item lies.
 *
 * @param partition the group of items that can be scanned together
 * @param sort the place within the partition; items are ordered by its UTF-16 code units
 */
public record Key(String partition, String sort) implements Comparable<Key> {
  /** Longest partition, in bytes of UTF-8. */
  public static final int PARTITION_BYTES_MAX = 2_304;

  /** Longest sort, in bytes of UTF-8. */
  public static final int SORT_BYTES_MAX = 1_024;

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the part that breaks one
   */
  public Key {
    Limits.checkText("partition", partition, PARTITION_BYTES_MAX);
    Limits.checkText("sort", sort, SORT_BYTES_MAX);
  }

  @Override
  public int compareTo(Key other) {
    int byPartition = partition.compareTo(other.partition);
    return byPartition != 0 ? byPartition : sort.compareTo(other.sort);
  }
}
