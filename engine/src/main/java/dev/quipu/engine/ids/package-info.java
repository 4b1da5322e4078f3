/** Request ids: tables in memory, and sealed files on disk. */
@NullMarked
package dev.quipu.engine.ids;

import org.jspecify.annotations.NullMarked;
