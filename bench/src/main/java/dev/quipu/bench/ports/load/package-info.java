/** Load generators for the ports. */
@NullMarked
package dev.quipu.bench.ports.load;

import org.jspecify.annotations.NullMarked;
