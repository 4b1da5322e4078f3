/** Counting on redis. */
@NullMarked
package dev.quipu.redis;

import org.jspecify.annotations.NullMarked;
