/** Tests of the memcached port. */
@NullMarked
package dev.quipu.server.memcache;

import org.jspecify.annotations.NullMarked;
