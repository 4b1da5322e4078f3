/** Backups in object storage. */
@NullMarked
package dev.quipu.server.archive;

import org.jspecify.annotations.NullMarked;
