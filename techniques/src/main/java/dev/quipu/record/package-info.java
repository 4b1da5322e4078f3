/** What a store says of itself: how it is counted on, and who may write. */
@NullMarked
package dev.quipu.record;

import org.jspecify.annotations.NullMarked;
