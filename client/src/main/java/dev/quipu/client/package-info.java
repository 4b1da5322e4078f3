/** Counters of a running server: batches, retries under the same id, and failover. */
@NullMarked
package dev.quipu.client;

import org.jspecify.annotations.NullMarked;
