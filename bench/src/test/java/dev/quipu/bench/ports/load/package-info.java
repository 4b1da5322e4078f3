/** Tests of the load generators. */
@NullMarked
package dev.quipu.bench.ports.load;

import org.jspecify.annotations.NullMarked;
