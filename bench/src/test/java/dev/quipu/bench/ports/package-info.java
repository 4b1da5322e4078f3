/** The generators count right. */
@NullMarked
package dev.quipu.bench.ports;

import org.jspecify.annotations.NullMarked;
