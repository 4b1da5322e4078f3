/** The record of how a store is counted on, which decides who may write. */
@NullMarked
package dev.quipu.record;

import org.jspecify.annotations.NullMarked;
