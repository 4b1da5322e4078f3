/** A store in memory, which ends with the process: for tests and simulations. */
@NullMarked
package dev.quipu.memory;

import org.jspecify.annotations.NullMarked;
