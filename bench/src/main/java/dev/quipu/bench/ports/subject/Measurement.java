package dev.quipu.bench.ports.subject;

/**
 * The result of a turn of one subject.
 *
 * @param applied adds with a reply
 * @param perSecond the same per second
 * @param cpu time of the server per million adds
 */
public record Measurement(long applied, double perSecond, Cpu cpu) {}
