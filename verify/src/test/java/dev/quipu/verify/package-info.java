/** Tests of the harness, and of core by it. */
@NullMarked
package dev.quipu.verify;

import org.jspecify.annotations.NullMarked;
