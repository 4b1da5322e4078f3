/** Transactions over several counters, and holds, on stores with batches over all items. */
@NullMarked
package dev.quipu.transaction;

import org.jspecify.annotations.NullMarked;
