/** The commands, by what they are about. */
@NullMarked
package dev.quipu.server.resp.command;

import org.jspecify.annotations.NullMarked;
