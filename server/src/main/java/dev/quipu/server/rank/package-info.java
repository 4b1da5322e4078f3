/** Counters by value, and sums of namespaces: what people look at first. */
@NullMarked
package dev.quipu.server.rank;

import org.jspecify.annotations.NullMarked;
