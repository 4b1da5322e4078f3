/** The engine in process, beside RocksDB, in one run. Run by {@code ./dev bench}. */
@NullMarked
package dev.quipu.bench;

import org.jspecify.annotations.NullMarked;
