/** Tests of transfers and holds by commands. */
@NullMarked
package dev.quipu.server.cli.hold;

import org.jspecify.annotations.NullMarked;
