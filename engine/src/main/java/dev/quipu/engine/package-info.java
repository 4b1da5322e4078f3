/**
 * The embedded store: state in memory, an append-only log, snapshots. Durable before it answers,
 * and each request once.
 *
 * <p>In reading order: {@link dev.quipu.engine.Engine} is what callers see. {@code Committer} turns
 * calls into groups, each of which is one write and one sync. {@code State} is what is counted:
 * {@code CounterTable}, {@code RequestIds} and items. {@code Log} keeps the groups, as frames
 * ({@code Frame}) of records ({@code Records}), in segments; {@code HighWater} remembers how far
 * they were acknowledged. {@code Checkpointer} writes snapshots and seals request ids to {@code
 * IdFile}s, so that log and memory stay small. {@code Recovery} puts it all together again at the
 * start, or says what is damaged.
 */
@NullMarked
package dev.quipu.engine;

import org.jspecify.annotations.NullMarked;
