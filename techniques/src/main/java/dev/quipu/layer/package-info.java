/**
 * What techniques stand on: {@link dev.quipu.layer.Store} checks, repeats and emulates what they
 * ask of a driver; beside it, what watches a store.
 */
@NullMarked
package dev.quipu.layer;

import org.jspecify.annotations.NullMarked;
