/** Counts events of queues with at-least-once delivery. */
@NullMarked
package dev.quipu.ingest;

import org.jspecify.annotations.NullMarked;
