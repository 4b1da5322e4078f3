/** How long tests wait, and how much they repeat: for progress, and little in CI. */
@NullMarked
package dev.quipu.verify.pace;

import org.jspecify.annotations.NullMarked;
