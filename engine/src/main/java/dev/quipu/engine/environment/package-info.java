/** The environment of an engine: disk, threads, settings; and its failure model. */
@NullMarked
package dev.quipu.engine.environment;

import org.jspecify.annotations.NullMarked;
