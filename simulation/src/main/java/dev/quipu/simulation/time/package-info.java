/** Clocks that do not follow the time of the machine. */
@NullMarked
package dev.quipu.simulation.time;

import org.jspecify.annotations.NullMarked;
