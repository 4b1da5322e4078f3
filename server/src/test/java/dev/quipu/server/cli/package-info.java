/** Tests. */
@NullMarked
package dev.quipu.server.cli;

import org.jspecify.annotations.NullMarked;
