/** Tests of the driver for PostgreSQL on a real server. */
@NullMarked
package dev.quipu.postgresql;

import org.jspecify.annotations.NullMarked;
