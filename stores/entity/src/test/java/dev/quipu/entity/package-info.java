/** Tests of the base of drivers for stores of entities. */
@NullMarked
package dev.quipu.entity;

import org.jspecify.annotations.NullMarked;
