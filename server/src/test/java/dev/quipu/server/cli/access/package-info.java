/** Tests. */
@NullMarked
package dev.quipu.server.cli.access;

import org.jspecify.annotations.NullMarked;
