/** Clocks that are independent of the machine's time. */
@NullMarked
package dev.quipu.simulation.time;

import org.jspecify.annotations.NullMarked;
