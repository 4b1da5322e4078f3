/** Which values at past boundaries of minutes, hours and days are kept. */
@NullMarked
package dev.quipu.engine.history;

import org.jspecify.annotations.NullMarked;
