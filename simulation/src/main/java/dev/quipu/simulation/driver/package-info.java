/** Store drivers that wrap another: they inject faults, lag, limits or code of a test. */
@NullMarked
package dev.quipu.simulation.driver;

import org.jspecify.annotations.NullMarked;
