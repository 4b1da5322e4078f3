/** The commands, grouped by topic. */
@NullMarked
package dev.quipu.server.resp.command;

import org.jspecify.annotations.NullMarked;
