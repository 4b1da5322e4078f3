/**
 * Runs techniques under seeded faults and checks their guarantees. Independent of JUnit.
 *
 * <p>{@link dev.quipu.simulation.driver}: store drivers that inject faults. {@link
 * dev.quipu.simulation.history}: operations and their results. {@link
 * dev.quipu.simulation.checker}: checks of a history against a guarantee.
 */
@NullMarked
package dev.quipu.simulation;

import org.jspecify.annotations.NullMarked;
