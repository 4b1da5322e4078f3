/** What clients asked, and what they heard. */
@NullMarked
package dev.quipu.verify.history;

import org.jspecify.annotations.NullMarked;
