/** Tests. */
@NullMarked
package dev.quipu.server.cli.serve;

import org.jspecify.annotations.NullMarked;
