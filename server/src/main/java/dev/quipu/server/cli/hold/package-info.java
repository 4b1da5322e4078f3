/** The commands that transfer between counters, and reserve amounts of them. */
@NullMarked
package dev.quipu.server.cli.hold;

import org.jspecify.annotations.NullMarked;
