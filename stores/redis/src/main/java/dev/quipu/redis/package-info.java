/** Store driver for Redis, Valkey and Redis Cluster. */
@NullMarked
package dev.quipu.redis;

import org.jspecify.annotations.NullMarked;
