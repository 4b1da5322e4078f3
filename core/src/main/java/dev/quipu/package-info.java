/**
 * Exact counting. Start at {@link dev.quipu.Quipu}.
 *
 * <p>Every write ends as applied, rejected or unknown. A technique is a way to turn unknown into
 * one of the other two; {@link dev.quipu.technique} holds them, {@link dev.quipu.store} is what
 * they stand on.
 */
@NullMarked
package dev.quipu;

import org.jspecify.annotations.NullMarked;
