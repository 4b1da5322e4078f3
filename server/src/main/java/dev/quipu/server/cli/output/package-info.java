/** What commands print, log and end with. */
@NullMarked
package dev.quipu.server.cli.output;

import org.jspecify.annotations.NullMarked;
