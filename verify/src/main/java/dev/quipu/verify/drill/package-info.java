/** A technique under load on a store whose calls go wrong: measured on a real one, or predicted. */
@NullMarked
package dev.quipu.verify.drill;

import org.jspecify.annotations.NullMarked;
