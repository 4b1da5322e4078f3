/** Tests of timeouts and repetitions. */
@NullMarked
package dev.quipu.testkit.pace;

import org.jspecify.annotations.NullMarked;
