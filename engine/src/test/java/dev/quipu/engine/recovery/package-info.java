/** Tests of this package. */
@NullMarked
package dev.quipu.engine.recovery;

import org.jspecify.annotations.NullMarked;
