/** Divides one counter into shards that are written apart. */
@NullMarked
package dev.quipu.shard;

import org.jspecify.annotations.NullMarked;
