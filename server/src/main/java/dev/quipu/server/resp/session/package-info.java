/** The state of a connection, and replies that depend on it. */
@NullMarked
package dev.quipu.server.resp.session;

import org.jspecify.annotations.NullMarked;
