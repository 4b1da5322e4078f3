/** Tests of the meters on real components. */
@NullMarked
package dev.quipu.micrometer;

import org.jspecify.annotations.NullMarked;
