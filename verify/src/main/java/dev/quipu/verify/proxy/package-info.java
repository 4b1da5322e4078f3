/** A proxy between a client and a real store, which makes the wire fail and keeps the books. */
@NullMarked
package dev.quipu.verify.proxy;

import org.jspecify.annotations.NullMarked;
