/** Records that are numbered without gaps, and what can be built on that. */
@NullMarked
package dev.quipu.sequence;

import org.jspecify.annotations.NullMarked;
