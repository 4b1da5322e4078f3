/**
 * The embedded store: state in memory, an append-only log, snapshots. Writes are durable before
 * they are acknowledged, and each request is applied exactly once.
 *
 * <p>In reading order: {@link dev.quipu.engine.Engine} is the public API. {@code commit} commits
 * calls in groups, each of which is one write and one sync, takes snapshots and runs the expiry
 * sweep. {@code state} holds counters, items, and the request ids of {@code ids}, which seals the
 * older ones to files. {@code log} stores the groups, as frames of records, in segments, and the
 * high-water mark of acknowledged frames. {@code recovery} rebuilds the state at the start, or
 * reports damage. {@code environment} provides disk, threads and settings. {@code damage} names the
 * kinds of damage, {@code measure} reports measurements.
 */
@NullMarked
package dev.quipu.engine;

import org.jspecify.annotations.NullMarked;
