/** Tests of the contracts themselves. */
@NullMarked
package dev.quipu.testkit.technique;

import org.jspecify.annotations.NullMarked;
