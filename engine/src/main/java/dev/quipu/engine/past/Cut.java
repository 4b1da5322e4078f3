package dev.quipu.engine.past;

/**
 * What was recorded from one boundary to another, or in a part of that time.
 *
 * @param start in milliseconds since 1970
 * @param end in milliseconds since 1970
 * @param lastFrame the last frame of the log whose changes it has
 */
record Cut(long start, long end, long lastFrame, Entries.View entries) {}
