/** How many are online: distinct clients seen within a window of time. */
@NullMarked
package dev.quipu.presence;

import org.jspecify.annotations.NullMarked;
