/**
 * A simulator of processes that share a store: threads in an order that a seed decides, virtual
 * time, and links to the store on which calls are rejected, lost or late.
 */
@NullMarked
package dev.quipu.verify.steps;

import org.jspecify.annotations.NullMarked;
