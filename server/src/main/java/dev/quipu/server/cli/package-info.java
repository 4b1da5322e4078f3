/**
 * The command line: a class for each command. Commands use {@code Access}, to a server or to a data
 * directory.
 */
@NullMarked
package dev.quipu.server.cli;

import org.jspecify.annotations.NullMarked;
