/**
 * The only place that reads a clock, sleeps, or draws randomness. Everything else is handed one.
 */
@NullMarked
package dev.quipu.time;

import org.jspecify.annotations.NullMarked;
