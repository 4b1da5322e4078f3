/** Tests of thresholds. */
@NullMarked
package dev.quipu.engine.threshold;

import org.jspecify.annotations.NullMarked;
