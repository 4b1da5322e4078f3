/** Benchmarks of Quipu's server and other servers over the wire, and sizes of the engine. */
@NullMarked
package dev.quipu.bench.ports;

import org.jspecify.annotations.NullMarked;
