/** Tests. */
@NullMarked
package dev.quipu.server.watch;

import org.jspecify.annotations.NullMarked;
