/** Tests of the parts that drivers and techniques share. */
@NullMarked
package dev.quipu.verify.store;

import org.jspecify.annotations.NullMarked;
