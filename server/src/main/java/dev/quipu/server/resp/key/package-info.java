/** What commands are about: their arguments, and the kinds of values of a key. */
@NullMarked
package dev.quipu.server.resp.key;

import org.jspecify.annotations.NullMarked;
