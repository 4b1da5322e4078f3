/** Servers for tests: each on a free port of 127.0.0.1, stopped with the JVM. */
@NullMarked
package dev.quipu.testservers;

import org.jspecify.annotations.NullMarked;
