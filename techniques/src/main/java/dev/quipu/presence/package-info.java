/** Counts online clients: distinct clients seen within a time window. */
@NullMarked
package dev.quipu.presence;

import org.jspecify.annotations.NullMarked;
