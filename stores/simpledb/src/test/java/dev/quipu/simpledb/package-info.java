/** Tests of the SimpleDB store, on the server of {@code dev.quipu.simpledbserver}. */
@NullMarked
package dev.quipu.simpledb;

import org.jspecify.annotations.NullMarked;
