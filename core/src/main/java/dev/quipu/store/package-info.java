/**
 * What techniques stand on: {@link dev.quipu.store.Store} is what they call, {@link
 * dev.quipu.store.StoreDriver} is what a backend implements.
 */
@NullMarked
package dev.quipu.store;

import org.jspecify.annotations.NullMarked;
