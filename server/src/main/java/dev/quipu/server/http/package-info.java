/** The HTTP port: connections, and the dispatch of requests to routes. */
@NullMarked
package dev.quipu.server.http;

import org.jspecify.annotations.NullMarked;
