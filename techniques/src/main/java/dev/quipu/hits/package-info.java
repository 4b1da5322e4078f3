/** Counts by one item per hit, or by a tree of versions: for stores without atomic addition. */
@NullMarked
package dev.quipu.hits;

import org.jspecify.annotations.NullMarked;
