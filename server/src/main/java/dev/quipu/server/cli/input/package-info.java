/** Parsers for the input of commands: durations, lines, access logs. */
@NullMarked
package dev.quipu.server.cli.input;

import org.jspecify.annotations.NullMarked;
