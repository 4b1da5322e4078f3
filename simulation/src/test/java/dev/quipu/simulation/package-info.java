/** Tests of the simulation module. */
@NullMarked
package dev.quipu.simulation;

import org.jspecify.annotations.NullMarked;
