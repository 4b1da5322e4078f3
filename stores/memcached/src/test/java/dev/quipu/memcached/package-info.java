/** Tests of the driver for memcached on a real server. */
@NullMarked
package dev.quipu.memcached;

import org.jspecify.annotations.NullMarked;
