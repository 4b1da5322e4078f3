/** The HTTP front: one table of routes, one handler a connection. */
@NullMarked
package dev.quipu.server.http;

import org.jspecify.annotations.NullMarked;
