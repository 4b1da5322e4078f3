/** A store in the memory of the process, for tests and simulations. */
@NullMarked
package dev.quipu.memory;

import org.jspecify.annotations.NullMarked;
