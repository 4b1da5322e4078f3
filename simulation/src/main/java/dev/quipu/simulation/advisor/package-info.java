/** Ranks techniques for a workload by running each one under it, in virtual time. */
@NullMarked
package dev.quipu.simulation.advisor;

import org.jspecify.annotations.NullMarked;
