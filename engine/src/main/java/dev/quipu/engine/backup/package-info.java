/** Backups of data directories: a copy at a log position, and its restoration. */
@NullMarked
package dev.quipu.engine.backup;

import org.jspecify.annotations.NullMarked;
