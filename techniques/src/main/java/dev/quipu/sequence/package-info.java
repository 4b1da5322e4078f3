/**
 * Numbers records without gaps, and builds unique values, revisions and range jobs on the same
 * protocols.
 */
@NullMarked
package dev.quipu.sequence;

import org.jspecify.annotations.NullMarked;
