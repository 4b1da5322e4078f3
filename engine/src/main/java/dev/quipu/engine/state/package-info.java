/** Counters, items and request ids, in memory. */
@NullMarked
package dev.quipu.engine.state;

import org.jspecify.annotations.NullMarked;
