package dev.quipu.technique;

/**
 * The cost of one call without faults and without concurrent writers.
 *
 * @param roundTrips sequential calls to the store
 * @param writes number of items written
 * @param itemsKept number of items that stay in the store
 */
public record Cost(int roundTrips, int writes, int itemsKept) {}
