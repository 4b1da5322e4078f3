/**
 * The embedded store: state in memory, an append-only log, snapshots. Durable before it answers,
 * and each request once.
 *
 * <p>In reading order: {@link dev.quipu.engine.Engine} is what callers see. {@code commit} turns
 * calls into groups, each of which is one write and one sync, takes snapshots and sweeps what has
 * expired. {@code state} is what is counted: counters, items, and the request ids of {@code ids},
 * which seals the older ones to files. {@code log} keeps the groups, as frames of records, in
 * segments, and the high-water mark of what was acknowledged. {@code recovery} puts it all together
 * again at the start, or says what is damaged. {@code environment} is what they run in: disk,
 * threads, settings. {@code damage} names what can be wrong with a data directory.
 */
@NullMarked
package dev.quipu.engine;

import org.jspecify.annotations.NullMarked;
