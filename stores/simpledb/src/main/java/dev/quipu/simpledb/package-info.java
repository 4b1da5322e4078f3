/** Store driver for Amazon SimpleDB. */
@NullMarked
package dev.quipu.simpledb;

import org.jspecify.annotations.NullMarked;
