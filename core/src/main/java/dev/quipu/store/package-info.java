/**
 * What a store is: {@link dev.quipu.store.StoreDriver} is what a backend implements, and what it is
 * asked in.
 */
@NullMarked
package dev.quipu.store;

import org.jspecify.annotations.NullMarked;
