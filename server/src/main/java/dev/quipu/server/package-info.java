/** The server and the command line. */
@NullMarked
package dev.quipu.server;

import org.jspecify.annotations.NullMarked;
