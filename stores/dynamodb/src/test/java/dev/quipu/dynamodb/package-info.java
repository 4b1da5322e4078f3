/** The driver for dynamodb, against the real server. */
@NullMarked
package dev.quipu.dynamodb;

import org.jspecify.annotations.NullMarked;
