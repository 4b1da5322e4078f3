package dev.quipu.engine.environment;

import dev.quipu.time.Clock;
import java.time.Duration;

/**
 * The options of an engine, as its parts read them.
 *
 * @param window how long a request id is remembered, at least
 * @param leapMillisMax how far a start may move the age of request ids by what the wall clock says
 * @param checkpointBytes log after which a snapshot is taken
 * @param idsInMemoryMax request ids kept in memory before they are sealed to disk
 * @param memoryBytesMax heap that counters, texts and items may take
 * @param syncsEach whether each group is synced before its callers are answered
 * @param callDeadline longest wait for the answer to one call
 * @param clock the clock of the engine
 */
public record Settings(
    Duration window,
    long leapMillisMax,
    long checkpointBytes,
    int idsInMemoryMax,
    long memoryBytesMax,
    boolean syncsEach,
    Duration callDeadline,
    Clock clock) {}
