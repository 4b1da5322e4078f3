/**
 * The harness that proves what techniques and stores promise. Users can run it on their own.
 *
 * <p>{@link dev.quipu.verify.contract}: what a store and a counter must do, as JUnit tests to
 * extend. {@link dev.quipu.verify.history}: what clients asked and what they heard. {@link
 * dev.quipu.verify.checker}: whether a history keeps a promise. {@link dev.quipu.verify.simulate}:
 * techniques under seeded faults.
 */
@NullMarked
package dev.quipu.verify;

import org.jspecify.annotations.NullMarked;
