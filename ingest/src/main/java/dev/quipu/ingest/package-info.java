/** Counts events out of queues that deliver at least once. */
@NullMarked
package dev.quipu.ingest;

import org.jspecify.annotations.NullMarked;
