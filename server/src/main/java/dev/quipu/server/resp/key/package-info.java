/** Arguments of commands, and the kinds of values under a key. */
@NullMarked
package dev.quipu.server.resp.key;

import org.jspecify.annotations.NullMarked;
