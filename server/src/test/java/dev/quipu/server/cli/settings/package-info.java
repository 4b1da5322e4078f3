/** Tests. */
@NullMarked
package dev.quipu.server.cli.settings;

import org.jspecify.annotations.NullMarked;
