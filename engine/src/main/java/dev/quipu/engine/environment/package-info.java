/** What an engine runs in: the disk, threads, settings; and how it fails. */
@NullMarked
package dev.quipu.engine.environment;

import org.jspecify.annotations.NullMarked;
