/** Servers and libraries under load. */
@NullMarked
package dev.quipu.bench.ports.subject;

import org.jspecify.annotations.NullMarked;
