/** What every store and every way to count must do, as tests to extend. */
@NullMarked
package dev.quipu.verify.contract;

import org.jspecify.annotations.NullMarked;
