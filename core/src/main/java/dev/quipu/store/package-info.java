/**
 * The store SPI: {@link dev.quipu.store.StoreDriver} is the interface that a backend implements,
 * with the types of its requests and results.
 */
@NullMarked
package dev.quipu.store;

import org.jspecify.annotations.NullMarked;
