/** Opens counters on a store: the only package that depends on all techniques. */
@NullMarked
package dev.quipu.backend;

import org.jspecify.annotations.NullMarked;
