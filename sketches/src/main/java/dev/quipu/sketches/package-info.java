/** Approximate counts in little memory, with a stated error. */
@NullMarked
package dev.quipu.sketches;

import org.jspecify.annotations.NullMarked;
