/** Techniques under seeded faults, one client at a time. */
@NullMarked
package dev.quipu.verify.simulate;

import org.jspecify.annotations.NullMarked;
