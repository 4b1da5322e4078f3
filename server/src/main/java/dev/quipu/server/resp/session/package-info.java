/** What a connection remembers between commands. */
@NullMarked
package dev.quipu.server.resp.session;

import org.jspecify.annotations.NullMarked;
