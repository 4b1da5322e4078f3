/** Tests of the shop. */
@NullMarked
package dev.quipu.shop;

import org.jspecify.annotations.NullMarked;
