/** Tests of the demonstration of failures. */
@NullMarked
package dev.quipu.server.demo;

import org.jspecify.annotations.NullMarked;
