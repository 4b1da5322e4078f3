/** Commands on a store as a whole, and on the data directory of an engine. */
@NullMarked
package dev.quipu.server.cli.store;

import org.jspecify.annotations.NullMarked;
