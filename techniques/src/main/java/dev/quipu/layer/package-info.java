/**
 * The layers between techniques and drivers: {@link dev.quipu.layer.Store} checks, retries and
 * emulates the calls of a technique; other classes monitor a store.
 */
@NullMarked
package dev.quipu.layer;

import org.jspecify.annotations.NullMarked;
