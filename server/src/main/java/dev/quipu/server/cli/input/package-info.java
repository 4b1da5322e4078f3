/** What commands read: times, lines, access logs. */
@NullMarked
package dev.quipu.server.cli.input;

import org.jspecify.annotations.NullMarked;
