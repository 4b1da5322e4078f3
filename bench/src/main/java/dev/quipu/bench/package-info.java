/** Benchmarks of the engine and of RocksDB in one run, by {@code ./dev bench}. */
@NullMarked
package dev.quipu.bench;

import org.jspecify.annotations.NullMarked;
