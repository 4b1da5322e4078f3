/** A table with a replica in each region, as a cloud has it: with lag, disorder and partitions. */
@NullMarked
package dev.quipu.verify.region;

import org.jspecify.annotations.NullMarked;
