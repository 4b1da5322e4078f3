/** Measurements of an engine's work. */
@NullMarked
package dev.quipu.engine.measure;

import org.jspecify.annotations.NullMarked;
