/** Tests of this package. */
@NullMarked
package dev.quipu.engine.ids;

import org.jspecify.annotations.NullMarked;
