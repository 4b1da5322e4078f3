/** Writes counters of a period as a page in one file. */
@NullMarked
package dev.quipu.server.cli.report;

import org.jspecify.annotations.NullMarked;
