/** Approximate counts: little memory, and an error that is stated. */
@NullMarked
package dev.quipu.sketches;

import org.jspecify.annotations.NullMarked;
