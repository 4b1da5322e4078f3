/** Shows what failures do to techniques. */
@NullMarked
package dev.quipu.server.demo;

import org.jspecify.annotations.NullMarked;
