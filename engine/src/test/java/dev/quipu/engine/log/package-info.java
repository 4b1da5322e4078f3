/** Tests of this package. */
@NullMarked
package dev.quipu.engine.log;

import org.jspecify.annotations.NullMarked;
