/** Load tests of a technique under faults: measured on a real store, or predicted. */
@NullMarked
package dev.quipu.simulation.drill;

import org.jspecify.annotations.NullMarked;
