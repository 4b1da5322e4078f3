/** The ways to count. One file is one technique, with an essay at its head. */
@NullMarked
package dev.quipu.technique;

import org.jspecify.annotations.NullMarked;
