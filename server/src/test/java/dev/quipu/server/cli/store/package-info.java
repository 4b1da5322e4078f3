/** Tests. */
@NullMarked
package dev.quipu.server.cli.store;

import org.jspecify.annotations.NullMarked;
