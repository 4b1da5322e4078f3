/** Items as entities that only transactions change. */
@NullMarked
package dev.quipu.entity;

import org.jspecify.annotations.NullMarked;
