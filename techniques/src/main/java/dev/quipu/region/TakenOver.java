package dev.quipu.region;

/**
 * The result of a take-over of retired regions, for one counter.
 *
 * @param counted sum of their adds, as far as known
 * @param lower rights to lower the counter, which the successor now has; 0 if there is no floor
 * @param raise rights to raise it; 0 if there is no ceiling
 */
public record TakenOver(long counted, long lower, long raise) {}
