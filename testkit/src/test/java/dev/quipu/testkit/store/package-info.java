/** Tests of the parts that drivers and techniques share. */
@NullMarked
package dev.quipu.testkit.store;

import org.jspecify.annotations.NullMarked;
