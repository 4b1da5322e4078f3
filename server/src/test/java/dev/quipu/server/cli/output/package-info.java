/** Tests of what commands print and log. */
@NullMarked
package dev.quipu.server.cli.output;

import org.jspecify.annotations.NullMarked;
