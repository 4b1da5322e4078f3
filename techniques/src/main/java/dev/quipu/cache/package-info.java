/** A bounded cache. */
@NullMarked
package dev.quipu.cache;

import org.jspecify.annotations.NullMarked;
