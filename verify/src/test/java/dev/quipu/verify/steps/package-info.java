/** Scenarios of the simulator of processes that share a store. */
@NullMarked
package dev.quipu.verify.steps;

import org.jspecify.annotations.NullMarked;
