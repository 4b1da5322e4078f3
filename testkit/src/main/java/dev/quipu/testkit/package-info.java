/**
 * The testkit for authors of drivers and techniques: contracts as JUnit tests to extend.
 *
 * <p>{@link dev.quipu.testkit.store}: contracts of a store driver. {@link
 * dev.quipu.testkit.technique}: contracts of counters and of everything else built on a store.
 * {@link dev.quipu.testkit.pace}: timeouts and repetitions of tests.
 */
@NullMarked
package dev.quipu.testkit;

import org.jspecify.annotations.NullMarked;
