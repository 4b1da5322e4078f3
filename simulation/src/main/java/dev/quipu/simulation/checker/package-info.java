/** Checks of a history against a guarantee; {@code Checkers} has one for each. */
@NullMarked
package dev.quipu.simulation.checker;

import org.jspecify.annotations.NullMarked;
