/** The counting techniques: one per file, with an essay at its head. */
@NullMarked
package dev.quipu.technique;

import org.jspecify.annotations.NullMarked;
