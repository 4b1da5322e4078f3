/** Tests of the SimpleDB store, on the server of {@code dev.quipu.verify.simpledb}. */
@NullMarked
package dev.quipu.simpledb;

import org.jspecify.annotations.NullMarked;
