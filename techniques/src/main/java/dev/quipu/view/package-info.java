/** Exact unique views. */
@NullMarked
package dev.quipu.view;

import org.jspecify.annotations.NullMarked;
