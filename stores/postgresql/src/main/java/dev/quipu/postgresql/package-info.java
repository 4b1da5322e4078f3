/** Counting on postgresql. */
@NullMarked
package dev.quipu.postgresql;

import org.jspecify.annotations.NullMarked;
