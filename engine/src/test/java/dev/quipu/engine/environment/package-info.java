/** Tests of this package. */
@NullMarked
package dev.quipu.engine.environment;

import org.jspecify.annotations.NullMarked;
