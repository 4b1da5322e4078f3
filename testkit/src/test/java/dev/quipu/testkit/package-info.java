/** Tests of core and of the techniques. */
@NullMarked
package dev.quipu.testkit;

import org.jspecify.annotations.NullMarked;
