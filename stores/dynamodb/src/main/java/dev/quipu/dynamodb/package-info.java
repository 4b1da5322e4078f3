/** Counting on dynamodb. */
@NullMarked
package dev.quipu.dynamodb;

import org.jspecify.annotations.NullMarked;
