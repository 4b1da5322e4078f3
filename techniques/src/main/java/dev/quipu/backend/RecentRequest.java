package dev.quipu.backend;

import dev.quipu.AddResult;
import dev.quipu.RequestId;
import java.time.Instant;

/**
 * A request with an id that an engine answered since it was opened.
 *
 * @param delta what was to be added, in units of the counter
 * @param scale the scale of the counter when it was answered
 * @param at the wall clock of the engine
 */
public record RecentRequest(RequestId id, long delta, int scale, AddResult result, Instant at) {}
