/** The serve and ingest commands, their options, and the topology of regions. */
@NullMarked
package dev.quipu.server.cli.serve;

import org.jspecify.annotations.NullMarked;
