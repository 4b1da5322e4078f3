/** Quipu's server beside other servers, over the wire, in one run; and sizes of the engine. */
@NullMarked
package dev.quipu.bench.ports;

import org.jspecify.annotations.NullMarked;
