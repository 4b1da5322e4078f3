/**
 * A TCP proxy between a client and a real store: it injects faults and records what reached the
 * store.
 */
@NullMarked
package dev.quipu.simulation.proxy;

import org.jspecify.annotations.NullMarked;
