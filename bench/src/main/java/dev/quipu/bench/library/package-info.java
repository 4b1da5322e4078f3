/** Benchmarks of the library: the engine, the drivers, sequences and ingest. */
@NullMarked
package dev.quipu.bench.library;

import org.jspecify.annotations.NullMarked;
