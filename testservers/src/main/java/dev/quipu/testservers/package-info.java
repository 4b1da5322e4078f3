/** The real servers that tests start: each on a free port of loopback, stopped with the JVM. */
@NullMarked
package dev.quipu.testservers;

import org.jspecify.annotations.NullMarked;
