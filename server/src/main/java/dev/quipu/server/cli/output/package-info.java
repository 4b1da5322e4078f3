/** Output, logs and exit codes of commands. */
@NullMarked
package dev.quipu.server.cli.output;

import org.jspecify.annotations.NullMarked;
