/** Sockets, and the memory and connections that all ports share. */
@NullMarked
package dev.quipu.server.net;

import org.jspecify.annotations.NullMarked;
