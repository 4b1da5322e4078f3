/** The memcached protocol: text and meta commands on the counters of an engine. */
@NullMarked
package dev.quipu.server.memcache;

import org.jspecify.annotations.NullMarked;
