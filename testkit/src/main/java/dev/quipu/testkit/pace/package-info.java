/** Timeouts and repetitions of tests: tests wait for progress, and repeat little in CI. */
@NullMarked
package dev.quipu.testkit.pace;

import org.jspecify.annotations.NullMarked;
