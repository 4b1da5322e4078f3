/** Puts counters on a store: the one package that knows all techniques. */
@NullMarked
package dev.quipu.backend;

import org.jspecify.annotations.NullMarked;
