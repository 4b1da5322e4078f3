/** Tests of the engine. */
@NullMarked
package dev.quipu.engine;

import org.jspecify.annotations.NullMarked;
