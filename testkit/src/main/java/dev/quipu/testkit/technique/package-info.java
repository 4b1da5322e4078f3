/** The contracts of techniques, as JUnit tests to extend. */
@NullMarked
package dev.quipu.testkit.technique;

import org.jspecify.annotations.NullMarked;
