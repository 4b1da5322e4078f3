/** The operations that clients called, with their results. */
@NullMarked
package dev.quipu.simulation.history;

import org.jspecify.annotations.NullMarked;
