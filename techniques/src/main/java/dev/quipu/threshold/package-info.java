/** Observes counters that cross thresholds. */
@NullMarked
package dev.quipu.threshold;

import org.jspecify.annotations.NullMarked;
