/** Counters for display: a cache in front of a durable counter. */
@NullMarked
package dev.quipu.display;

import org.jspecify.annotations.NullMarked;
