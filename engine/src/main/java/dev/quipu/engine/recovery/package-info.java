/** Snapshots, and recovery of the state from files. */
@NullMarked
package dev.quipu.engine.recovery;

import org.jspecify.annotations.NullMarked;
