/** Locks with fencing tokens. */
@NullMarked
package dev.quipu.lock;

import org.jspecify.annotations.NullMarked;
