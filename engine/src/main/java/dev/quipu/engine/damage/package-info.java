/** Kinds of damage of a data directory. */
@NullMarked
package dev.quipu.engine.damage;

import org.jspecify.annotations.NullMarked;
