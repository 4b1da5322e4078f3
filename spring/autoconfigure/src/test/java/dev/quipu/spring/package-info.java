/** Tests of the configuration. */
@NullMarked
package dev.quipu.spring;

import org.jspecify.annotations.NullMarked;
