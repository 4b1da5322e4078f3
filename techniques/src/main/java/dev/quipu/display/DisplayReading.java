package dev.quipu.display;

import java.time.Instant;

/**
 * The number to show, and how sure it is: at {@code asOf}, the true one lay in {@code low..high},
 * ends included.
 *
 * @param low what is durable
 * @param high what was counted, and what a cache may have lost of it
 */
public record DisplayReading(long value, long low, long high, Instant asOf) {}
