package dev.quipu.bench.ports;

/**
 * What one subject did in one turn.
 *
 * @param perSecond adds that were applied and answered
 * @param cpuPerMillion seconds of processor that the server took for a million; NaN if unknown
 */
record Turn(double perSecond, double cpuPerMillion) {}
