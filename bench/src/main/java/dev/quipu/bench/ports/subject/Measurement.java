package dev.quipu.bench.ports.subject;

/**
 * What one subject did in one turn.
 *
 * @param perSecond adds that were applied and answered
 * @param cpu what the server took for a million
 */
public record Measurement(double perSecond, Cpu cpu) {}
