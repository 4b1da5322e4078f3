package dev.quipu.technique;

/**
 * What one call costs when nothing goes wrong and nobody else writes.
 *
 * @param roundTrips calls to the store, one after the other
 * @param writes items written
 * @param itemsKept items that stay behind
 */
public record Cost(int roundTrips, int writes, int itemsKept) {}
