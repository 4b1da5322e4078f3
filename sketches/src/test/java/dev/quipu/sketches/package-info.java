/** Approximate counts against exact ones. */
@NullMarked
package dev.quipu.sketches;

import org.jspecify.annotations.NullMarked;
