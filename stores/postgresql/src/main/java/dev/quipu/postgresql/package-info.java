/** Store driver for PostgreSQL. */
@NullMarked
package dev.quipu.postgresql;

import org.jspecify.annotations.NullMarked;
