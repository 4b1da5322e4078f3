/** Scenarios of the simulator of processes that share a store. */
@NullMarked
package dev.quipu.testkit.scenario;

import org.jspecify.annotations.NullMarked;
