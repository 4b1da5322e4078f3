/** Tests of the driver for Redis on a real server. */
@NullMarked
package dev.quipu.redis;

import org.jspecify.annotations.NullMarked;
