/** Meters of counters, stores and engines for Micrometer. */
@NullMarked
package dev.quipu.micrometer;

import org.jspecify.annotations.NullMarked;
