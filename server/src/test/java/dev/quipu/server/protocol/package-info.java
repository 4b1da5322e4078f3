/** Tests of command ports. */
@NullMarked
package dev.quipu.server.protocol;

import org.jspecify.annotations.NullMarked;
