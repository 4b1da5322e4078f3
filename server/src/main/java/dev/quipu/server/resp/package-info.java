/** Counters over the Redis protocol. */
@NullMarked
package dev.quipu.server.resp;

import org.jspecify.annotations.NullMarked;
