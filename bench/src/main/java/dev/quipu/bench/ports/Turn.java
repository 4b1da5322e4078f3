package dev.quipu.bench.ports;

/**
 * What one subject did in one turn.
 *
 * @param perSecond adds that were applied and answered
 * @param cpu what the server took for a million
 */
record Turn(double perSecond, Cpu cpu) {}
