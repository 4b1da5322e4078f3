/**
 * The command line: each command a class, over {@code Access}, which is a server or a data
 * directory.
 */
@NullMarked
package dev.quipu.server.cli;

import org.jspecify.annotations.NullMarked;
