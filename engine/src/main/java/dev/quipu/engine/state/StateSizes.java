package dev.quipu.engine.state;

/**
 * Sizes of the state at one moment.
 *
 * @param counters counters, among them expired ones that are still stored
 * @param named names, of counters and tombstones
 */
public record StateSizes(
    long counters,
    long named,
    long items,
    long memoryBytes,
    long ids,
    long idsInMemory,
    int idFiles,
    int openHolds,
    long expiredHolds,
    long transactions,
    AddCounts.Sums adds) {}
