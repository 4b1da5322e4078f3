/** Group commit of adds to one item, for drivers. */
@NullMarked
package dev.quipu.store.group;

import org.jspecify.annotations.NullMarked;
