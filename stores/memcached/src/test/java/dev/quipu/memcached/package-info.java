/** The driver for memcached, against the real server. */
@NullMarked
package dev.quipu.memcached;

import org.jspecify.annotations.NullMarked;
