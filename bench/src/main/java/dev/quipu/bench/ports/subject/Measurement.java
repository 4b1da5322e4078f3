package dev.quipu.bench.ports.subject;

/**
 * The result of a turn of one subject.
 *
 * @param perSecond applied adds with a reply
 * @param cpu time of the server per million adds
 */
public record Measurement(double perSecond, Cpu cpu) {}
