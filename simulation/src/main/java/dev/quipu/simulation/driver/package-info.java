/** Store drivers that wrap another: they inject faults, lag, limits or test code. */
@NullMarked
package dev.quipu.simulation.driver;

import org.jspecify.annotations.NullMarked;
