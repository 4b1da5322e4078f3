/** Thresholds of counters, and the crossings of them that were not delivered. */
@NullMarked
package dev.quipu.engine.threshold;

import org.jspecify.annotations.NullMarked;
