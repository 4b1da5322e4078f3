/**
 * A deterministic simulator of processes that share a store: a seed determines the interleaving of
 * threads, time is virtual, and calls to the store are rejected, lost or late.
 */
@NullMarked
package dev.quipu.simulation.steps;

import org.jspecify.annotations.NullMarked;
