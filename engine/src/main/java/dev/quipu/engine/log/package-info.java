/**
 * The append-only log: frames of records in segments, and the high-water mark of acknowledged
 * frames.
 */
@NullMarked
package dev.quipu.engine.log;

import org.jspecify.annotations.NullMarked;
