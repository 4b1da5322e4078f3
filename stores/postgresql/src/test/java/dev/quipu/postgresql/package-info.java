/** The driver for postgresql, against the real server. */
@NullMarked
package dev.quipu.postgresql;

import org.jspecify.annotations.NullMarked;
