/** The generators count right. */
@NullMarked
package dev.quipu.bench.ports.load;

import org.jspecify.annotations.NullMarked;
