/** Connections that take commands: decoding, batching, and the commit of an event loop. */
@NullMarked
package dev.quipu.server.protocol;

import org.jspecify.annotations.NullMarked;
