/** Divides one counter into shards that are written independently. */
@NullMarked
package dev.quipu.shard;

import org.jspecify.annotations.NullMarked;
