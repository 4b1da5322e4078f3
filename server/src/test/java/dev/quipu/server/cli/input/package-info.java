/** Tests. */
@NullMarked
package dev.quipu.server.cli.input;

import org.jspecify.annotations.NullMarked;
