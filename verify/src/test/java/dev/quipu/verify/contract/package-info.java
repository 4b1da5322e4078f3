/** Tests of the contracts themselves. */
@NullMarked
package dev.quipu.verify.contract;

import org.jspecify.annotations.NullMarked;
