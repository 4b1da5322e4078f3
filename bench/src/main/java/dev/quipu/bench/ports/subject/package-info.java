/** The measured servers and libraries. */
@NullMarked
package dev.quipu.bench.ports.subject;

import org.jspecify.annotations.NullMarked;
