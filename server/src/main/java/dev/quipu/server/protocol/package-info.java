/** Command ports: decoding, batching and the group commit of an event loop. */
@NullMarked
package dev.quipu.server.protocol;

import org.jspecify.annotations.NullMarked;
