/** Access to counters for commands: a data directory, a store, or a server. */
@NullMarked
package dev.quipu.server.cli.access;

import org.jspecify.annotations.NullMarked;
