/** Snapshots, and how files become state at a start. */
@NullMarked
package dev.quipu.engine.recovery;

import org.jspecify.annotations.NullMarked;
