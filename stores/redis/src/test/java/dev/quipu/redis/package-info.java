/** The driver for redis, against the real server. */
@NullMarked
package dev.quipu.redis;

import org.jspecify.annotations.NullMarked;
