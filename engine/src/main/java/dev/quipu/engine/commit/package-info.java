/**
 * Group commit: one write and one sync for all waiting calls; also checkpoints and the expiry
 * sweep.
 */
@NullMarked
package dev.quipu.engine.commit;

import org.jspecify.annotations.NullMarked;
