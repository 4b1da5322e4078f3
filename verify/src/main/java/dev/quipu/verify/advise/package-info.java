/** Which technique fits a load: found by running each one under it, in virtual time. */
@NullMarked
package dev.quipu.verify.advise;

import org.jspecify.annotations.NullMarked;
