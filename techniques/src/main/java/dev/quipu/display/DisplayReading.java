package dev.quipu.display;

import java.time.Instant;

/**
 * The number to show, with its bounds: at {@code asOf}, the actual value was in {@code low..high},
 * inclusive.
 *
 * @param low the durable part
 * @param high all counted views, plus those that a cache may have lost
 */
public record DisplayReading(long value, long low, long high, Instant asOf) {}
