/** The record of the configuration of a store, which determines which processes may write. */
@NullMarked
package dev.quipu.record;

import org.jspecify.annotations.NullMarked;
