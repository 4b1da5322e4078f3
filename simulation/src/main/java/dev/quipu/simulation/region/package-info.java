/** A table that is replicated between regions, with lag, reordering and partitions. */
@NullMarked
package dev.quipu.simulation.region;

import org.jspecify.annotations.NullMarked;
