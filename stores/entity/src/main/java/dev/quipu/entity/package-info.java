/** Base of drivers for stores of entities with transactions. */
@NullMarked
package dev.quipu.entity;

import org.jspecify.annotations.NullMarked;
