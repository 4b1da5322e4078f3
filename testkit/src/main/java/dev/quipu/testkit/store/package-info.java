/** The contract of a store driver, as JUnit tests to extend. */
@NullMarked
package dev.quipu.testkit.store;

import org.jspecify.annotations.NullMarked;
