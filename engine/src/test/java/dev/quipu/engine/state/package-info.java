/** Tests of this package. */
@NullMarked
package dev.quipu.engine.state;

import org.jspecify.annotations.NullMarked;
