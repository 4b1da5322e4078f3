/** Whether a history keeps a promise. One checker proves one thing; {@code Checkers} lists them. */
@NullMarked
package dev.quipu.verify.checker;

import org.jspecify.annotations.NullMarked;
