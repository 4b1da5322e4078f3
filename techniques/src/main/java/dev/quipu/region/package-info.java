/** Counts in several regions, each with its own replica of one table. */
@NullMarked
package dev.quipu.region;

import org.jspecify.annotations.NullMarked;
