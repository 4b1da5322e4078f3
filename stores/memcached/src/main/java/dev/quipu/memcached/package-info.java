/** Store driver for memcached. */
@NullMarked
package dev.quipu.memcached;

import org.jspecify.annotations.NullMarked;
