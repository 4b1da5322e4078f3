/**
 * Exact counting. Start at {@link dev.quipu.Quipu}.
 *
 * <p>The outcome of every write is applied, rejected or unknown. A technique is a way to resolve an
 * unknown outcome to one of the other two: see package {@code dev.quipu.technique}, which is built
 * on {@link dev.quipu.store}.
 */
@NullMarked
package dev.quipu;

import org.jspecify.annotations.NullMarked;
