/** Keeps and reads values of counters at past boundaries. */
@NullMarked
package dev.quipu.engine.past;

import org.jspecify.annotations.NullMarked;
