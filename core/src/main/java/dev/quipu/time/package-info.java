/**
 * The only package that reads a clock, sleeps, or draws random numbers. All other code has a clock
 * and a source of randomness injected.
 */
@NullMarked
package dev.quipu.time;

import org.jspecify.annotations.NullMarked;
