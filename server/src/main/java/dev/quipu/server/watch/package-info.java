/** Sends changes of counters to clients as they happen. */
@NullMarked
package dev.quipu.server.watch;

import org.jspecify.annotations.NullMarked;
