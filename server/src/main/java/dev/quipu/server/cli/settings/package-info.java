/** Values of options that are not given as arguments: variables of the environment, and a file. */
@NullMarked
package dev.quipu.server.cli.settings;

import org.jspecify.annotations.NullMarked;
